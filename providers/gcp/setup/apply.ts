// Carries out the steps of a project, one change each. What exists already is that of an earlier attempt: the plan has seen that no name
// belongs to something else.
import { defaultSchedulerPort } from '../../../domain/cluster/capacity/ingress-rules.ts';
import type { SetupStep } from '../../manifest.ts';
import { explained, isThere, settled, type Calls } from './calls.ts';
import { changeCompute, enableService } from './operations.ts';
import type { Change, GcpStep } from './plan.ts';
import { changeBinding } from './policy.ts';
import { roleBody, type RoleFile } from './roles.ts';
import {
  accountIdOf,
  type CustomRole,
  markOf,
  roleId,
  ruleName,
  type RuleRole,
  tagName,
  type Wanted,
} from './wanted.ts';

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
  const { project, name } = wanted;
  const description = markOf(wanted);
  const network = `projects/${project}/global/networks/${name}`;
  const iam = `/v1/projects/${project}`;
  switch (change.do) {
    case 'enable':
      return enableService(calls, project, change.service);
    case 'createNetwork': {
      const body = { name, description, autoCreateSubnetworks: false, routingConfig: { routingMode: 'REGIONAL' } };
      return changeCompute(calls, project, 'POST', 'global/networks', body);
    }
    case 'createSubnetwork': {
      const { region, cidr: ipCidrRange } = change;
      // Instances without public addresses reach Google's APIs too.
      const body = { name, description, network, ipCidrRange, privateIpGoogleAccess: true };
      return changeCompute(calls, project, 'POST', `regions/${region}/subnetworks`, body);
    }
    case 'createRule':
      return changeCompute(calls, project, 'POST', 'global/firewalls', {
        ...{ name: ruleName(wanted, change.role), description, network, direction: 'INGRESS' },
        ...ruleBody(wanted, change.role, change.ranges),
      });
    case 'changeRule': {
      const path = `global/firewalls/${ruleName(wanted, change.role)}`;
      return changeCompute(calls, project, 'PATCH', path, ruleBody(wanted, change.role, change.ranges));
    }
    case 'createAccount': {
      const displayName = change.role === 'instance' ? 'Ropewalk instances' : 'Ropewalk control plane';
      const body = { accountId: accountIdOf(wanted, change.role), serviceAccount: { displayName, description } };
      return calls.send('iam', 'POST', `${iam}/serviceAccounts`, body);
    }
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
      return calls.send('storage', 'POST', `/storage/v1/b?project=${project}`, {
        name: wanted.bucket,
        location: wanted.regions[0],
        labels: { 'ropewalk-deployment': wanted.deploymentId },
        iamConfiguration: { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: 'enforced' },
        // Replaced objects would be kept, and paid for, for a week.
        softDeletePolicy: { retentionDurationSeconds: '0' },
      });
    case 'bind':
      return changeBinding(calls, wanted, change.binding, 'add');
  }
}

/** A repeat finds that the role is no longer deleted, which Google refuses. */
async function restoreRole(calls: Calls, path: string): Promise<void> {
  try {
    await calls.send('iam', 'POST', `${path}:undelete`, {});
  } catch (error) {
    const { deleted } = await calls.send<{ deleted?: boolean }>('iam', 'GET', path);
    if (deleted === true) throw error;
  }
}

/** Without source ranges: from instances with the tag of the cluster rule. */
function ruleBody(wanted: Wanted, role: RuleRole, ranges: readonly string[]): object {
  const allowed =
    role === 'cluster' ? [{ IPProtocol: 'all' }] : [{ IPProtocol: 'tcp', ports: [String(defaultSchedulerPort)] }];
  const source = role === 'cluster' ? { sourceTags: [tagName(wanted, 'cluster')] } : { sourceRanges: ranges };
  return { ...source, targetTags: [tagName(wanted, role)], allowed };
}
