// Applies the steps of a project, one change each. Existing resources come from an earlier attempt: the plan verified that
// other software uses none of the names.
import type { SetupStep } from '../../manifest.ts';
import { accountBody, bucketBody, networkBody, passBody, ruleBody, subnetworkBody } from './bodies.ts';
import { explained, isThere, settled, type Calls } from './calls.ts';
import { changeCompute, enableService } from './operations.ts';
import type { Change, GcpStep } from './plan.ts';
import { changeBinding } from './policy.ts';
import { roleBody, type RoleFile } from './roles.ts';
import { type CustomRole, roleId, ruleName, type Wanted } from './wanted.ts';

export async function applySteps(
  calls: Calls,
  wanted: Wanted,
  roles: Record<CustomRole, RoleFile>,
  steps: readonly GcpStep[],
  onDone: (step: SetupStep) => void,
): Promise<void> {
  for (const { change, ...step } of steps) {
    calls.signal.throwIfAborted();
    if (change === null) continue;
    const where = step.region === null ? '' : ` in ${step.region}`;
    try {
      await settled(calls, () => perform(calls, wanted, roles, change));
    } catch (error) {
      if (!isThere(error)) throw explained(`${step.action} ${step.kind} ${step.name}${where}`, error);
    }
    onDone(step);
  }
}

async function perform(
  calls: Calls,
  wanted: Wanted,
  roles: Record<CustomRole, RoleFile>,
  change: Change,
): Promise<unknown> {
  const { project } = wanted;
  const iam = `/v1/projects/${project}`;
  switch (change.do) {
    case 'enable':
      return enableService(calls, project, change.service);
    case 'createNetwork':
      return changeCompute(calls, project, 'POST', 'global/networks', networkBody(wanted));
    case 'createSubnetwork': {
      const path = `regions/${change.region}/subnetworks`;
      return changeCompute(calls, project, 'POST', path, subnetworkBody(wanted, change.cidr));
    }
    case 'createRule':
      return changeCompute(calls, project, 'POST', 'global/firewalls', ruleBody(wanted, change.role, change.ranges));
    case 'changeRule': {
      const path = `global/firewalls/${ruleName(wanted, change.role)}`;
      return changeCompute(calls, project, 'PATCH', path, passBody(wanted, change.role, change.ranges));
    }
    case 'createAccount':
      return calls.send('iam', 'POST', `${iam}/serviceAccounts`, accountBody(wanted, change.role));
    case 'createRole': {
      const body = { roleId: roleId(wanted, change.role), role: roleBody(roles[change.role], wanted) };
      return calls.send('iam', 'POST', `${iam}/roles`, body);
    }
    case 'restoreRole':
      return restoreRole(calls, `${iam}/roles/${roleId(wanted, change.role)}`);
    case 'updateRole': {
      const path = `${iam}/roles/${roleId(wanted, change.role)}?updateMask=includedPermissions`;
      return calls.send('iam', 'PATCH', path, roleBody(roles[change.role], wanted));
    }
    case 'createBucket':
      return calls.send('storage', 'POST', `/storage/v1/b?project=${project}`, bucketBody(wanted));
    case 'bind':
      return changeBinding(calls, wanted, change.binding, 'add');
  }
}

/** Google refuses to restore a role that a previous attempt restored. */
async function restoreRole(calls: Calls, path: string): Promise<void> {
  try {
    await calls.send('iam', 'POST', `${path}:undelete`, {});
  } catch (error) {
    const { deleted } = await calls.send<{ deleted?: boolean }>('iam', 'GET', path);
    if (deleted === true) throw error;
  }
}
