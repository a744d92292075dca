// Deletes setup's resources. APIs stay enabled, because other software may use them, and a bucket with objects stays. Grants
// are deleted before their accounts: Google would keep them as grants of a deleted account.
import type { SetupStep } from '../../manifest.ts';
import { carryOutRemovals, requireNone } from '../../removals.ts';
import { deploymentLabel, labelFilter } from '../names.ts';
import { explained, isMissing, settled, type Calls } from './calls.ts';
import { changeCompute } from './operations.ts';
import type { Found } from './plan.ts';
import { changeBinding } from './policy.ts';
import { customRoles, emailOf, roleId, ruleName, ruleRoles, type Wanted } from './wanted.ts';

export interface Removal {
  step: SetupStep;
  remove: ((calls: Calls) => Promise<unknown>) | null;
}

/** `isLast`: this setup has no other region. */
export async function planRemovals(calls: Calls, found: Found, wanted: Wanted, isLast: boolean): Promise<Removal[]> {
  if (!found.disabled.includes('compute')) await requireNoInstances(calls, wanted);
  const { project, name } = wanted;
  const removals: Removal[] = [];
  const add = (
    kind: string,
    label: string,
    remove: Removal['remove'],
    region: string | null = null,
    detail = '',
  ): void => {
    const action = remove === null ? 'keep' : 'delete';
    removals.push({ step: { action, region, kind, name: label, id: null, detail }, remove });
  };
  const iam = `/v1/projects/${project}`;
  if (isLast) {
    for (const binding of found.bindings) {
      const label = binding.role.replace(/^projects\/[^/]+\/roles\//, '');
      const of = binding.member.replace(/@.*/, '');
      add('grant', label, (to) => changeBinding(to, wanted, binding, 'remove'), null, `of ${of} on ${binding.on}`);
    }
    for (const role of ruleRoles) {
      if (found.rules[role] === null) continue;
      const path = `global/firewalls/${ruleName(wanted, role)}`;
      add('firewall rule', ruleName(wanted, role), (to) => changeCompute(to, project, 'DELETE', path));
    }
  }
  for (const { region, cidr } of found.subnets) {
    if (!wanted.regions.includes(region)) continue;
    const path = `regions/${region}/subnetworks/${name}`;
    add('subnetwork', name, (to) => changeCompute(to, project, 'DELETE', path), region, cidr);
  }
  if (!isLast) return removals;
  if (found.hasNetwork) add('network', name, (to) => changeCompute(to, project, 'DELETE', `global/networks/${name}`));
  const { bucket } = wanted;
  if (bucket !== null && found.hasBucket) {
    const path = `/storage/v1/b/${bucket}`;
    const { items = [] } = await calls.send<{ items?: object[] }>('storage', 'GET', `${path}/o?maxResults=1`);
    if (items.length > 0) add('bucket', bucket, null, null, 'it has objects and stays');
    else add('bucket', bucket, (to) => to.send('storage', 'DELETE', path));
  }
  const store = found.roles['object-store'];
  if (bucket === null && store !== null && !store.isDeleted) {
    const command = `ropewalk setup gcp --remove --project ${project} --name ${name} --bucket BUCKET`;
    add('bucket', 'of the object store', null, null, `it stays with its grant; "${command}" removes it`);
  }
  for (const role of found.accounts) {
    const email = emailOf(wanted, role);
    add('service account', email, (to) => to.send('iam', 'DELETE', `${iam}/serviceAccounts/${email}`));
  }
  for (const role of customRoles) {
    if (found.roles[role] === null || found.roles[role].isDeleted) continue;
    const path = `${iam}/roles/${roleId(wanted, role)}`;
    add('custom role', roleId(wanted, role), (to) => to.send('iam', 'DELETE', path));
  }
  return removals;
}

export const carryOut = (
  calls: Calls,
  removals: readonly Removal[],
  onDone: (step: SetupStep) => void,
  onWait: (line: string) => void,
): Promise<void> =>
  carryOutRemovals(
    removals,
    calls.signal,
    (remove, { kind, name }, where) =>
      settled(
        calls,
        () => gone(remove(calls)),
        (reason) => onWait(`${kind} ${name}${where} is still in use, up to five minutes: ${reason}`),
      ).catch((error: unknown) => {
        throw explained(`delete ${kind} ${name}${where}`, error);
      }),
    onDone,
  );

/** An earlier attempt may have deleted it. */
async function gone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function requireNoInstances(calls: Calls, { project, deploymentId }: Wanted): Promise<void> {
  const filter = encodeURIComponent(labelFilter(deploymentLabel(deploymentId)));
  const path = `/compute/v1/projects/${project}/aggregated/instances?filter=${filter}&maxResults=500`;
  const { items = {} } = await calls.send<{ items?: Record<string, { instances?: { name: string }[] }> }>(
    'compute',
    'GET',
    path,
  );
  const names = Object.values(items).flatMap(({ instances = [] }) => instances.map(({ name }) => name));
  requireNone('The project', names);
}
