// Finds setup's resources in a project. Does not read APIs that are not enabled, because the project has no resources there.
import { RopewalkError } from '../../../domain/errors.ts';
import { lastPart } from '../names.ts';
import { orNull, type Calls } from './calls.ts';
import type { Found } from './plan.ts';
import { hasBinding, readPolicy } from './policy.ts';
import {
  accountRoles,
  type Binding,
  bindingsOf,
  type CustomRole,
  customRoles,
  emailOf,
  markOf,
  roleId,
  ruleName,
  type RuleRole,
  type Wanted,
} from './wanted.ts';

export const servicesOf = ({ bucket }: Pick<Wanted, 'bucket'>): string[] => [
  ...['cloudresourcemanager', 'iam', 'compute', 'logging'],
  ...(bucket === null ? [] : ['storage', 'iamcredentials']),
];

/** @throws RopewalkError CONFLICT when a name belongs to something else. */
export async function findProject(calls: Calls, wanted: Wanted): Promise<Found> {
  const disabled = await disabledServices(calls, wanted);
  const isOn = (service: string): boolean => !disabled.includes(service);
  const compute = isOn('compute') ? await findNetwork(calls, wanted) : noNetwork;
  const iam = isOn('iam') ? await findIdentity(calls, wanted) : noIdentity;
  const hasBucket = wanted.bucket !== null && isOn('storage') && (await findBucket(calls, wanted, wanted.bucket));
  const bindings: Binding[] = [];
  for (const on of ['project', 'instance account', 'control-plane account', 'bucket'] as const) {
    const canRead =
      (on === 'project' && isOn('cloudresourcemanager')) ||
      (on === 'instance account' && iam.accounts.includes('instance')) ||
      (on === 'control-plane account' && iam.accounts.includes('control-plane') && wanted.bucket !== null) ||
      (on === 'bucket' && hasBucket);
    const policy = canRead ? await readPolicy(calls, wanted, on) : null;
    bindings.push(...bindingsOf(wanted).filter((each) => each.on === on && hasBinding(policy ?? {}, each)));
  }
  return { disabled, ...compute, ...iam, hasBucket, bindings };
}

async function disabledServices(calls: Calls, wanted: Wanted): Promise<string[]> {
  const { project } = wanted;
  const names = servicesOf(wanted).map((each) => `names=projects/${project}/services/${each}.googleapis.com`);
  const { services = [] } = await calls.send<{ services?: { name: string; state: string }[] }>(
    'serviceusage',
    'GET',
    `/v1/projects/${project}/services:batchGet?${names.join('&')}`,
  );
  const enabled = services.filter(({ state }) => state === 'ENABLED').map(({ name }) => lastPart(name));
  return servicesOf(wanted).filter((each) => !enabled.includes(`${each}.googleapis.com`));
}

type FoundNetwork = Pick<Found, 'regions' | 'hasNetwork' | 'subnets' | 'rules'>;
const noNetwork: FoundNetwork = {
  regions: [],
  hasNetwork: false,
  subnets: [],
  rules: { cluster: null, scheduler: null },
};

interface Described {
  name: string;
  description?: string;
}

async function findNetwork(calls: Calls, wanted: Wanted): Promise<FoundNetwork> {
  const { project, name } = wanted;
  const base = `/compute/v1/projects/${project}`;
  const read = <T>(path: string): Promise<T | null> => orNull(calls.send<T>('compute', 'GET', `${base}/${path}`));
  const regions = await Promise.all(
    wanted.regions.map(async (region) => {
      const found = await read<{ zones?: string[] }>(`regions/${region}`);
      if (found === null)
        throw new RopewalkError({
          code: 'VALIDATION',
          field: 'region',
          message: `The project ${project} has no region ${region}.`,
          hint: 'List them with gcloud compute regions list.',
        });
      return { region, zones: (found.zones ?? []).map(lastPart).toSorted() };
    }),
  );
  const network = await read<Described>(`global/networks/${name}`);
  if (network !== null) requireOwn(network.description, wanted, `network ${name}`);
  const filter = encodeURIComponent(`(name = "${name}")`);
  const all = await read<{ items?: Record<string, { subnetworks?: Subnetwork[] }> }>(
    `aggregated/subnetworks?filter=${filter}&maxResults=500`,
  );
  const subnets = Object.values(all?.items ?? {})
    .flatMap(({ subnetworks = [] }) => subnetworks)
    .map(({ region, ipCidrRange, network: of, description }) => {
      // A subnetwork of another network may have this name: names are unique per region.
      if (wanted.regions.includes(lastPart(region)) || lastPart(of) === name)
        requireOwn(description, wanted, `subnetwork ${name} in ${lastPart(region)}`);
      return { region: lastPart(region), cidr: ipCidrRange, isOurs: lastPart(of) === name };
    })
    .filter(({ isOurs }) => isOurs);
  const ruleOf = async (role: RuleRole): Promise<{ ranges: string[] } | null> => {
    const rule = await read<Described & { sourceRanges?: string[] }>(`global/firewalls/${ruleName(wanted, role)}`);
    if (rule !== null) requireOwn(rule.description, wanted, `firewall rule ${rule.name}`);
    return rule === null ? null : { ranges: rule.sourceRanges ?? [] };
  };
  const rules = { cluster: await ruleOf('cluster'), scheduler: await ruleOf('scheduler') };
  return { regions, hasNetwork: network !== null, subnets, rules };
}

interface Subnetwork {
  region: string;
  ipCidrRange: string;
  network: string;
  description?: string;
}

type FoundIdentity = Pick<Found, 'accounts' | 'roles'>;
const noIdentity: FoundIdentity = {
  accounts: [],
  roles: { 'control-plane': null, instance: null, 'object-store': null },
};

async function findIdentity(calls: Calls, wanted: Wanted): Promise<FoundIdentity> {
  const base = `/v1/projects/${wanted.project}`;
  const accounts = await Promise.all(
    accountRoles.map(async (role) => {
      const email = emailOf(wanted, role);
      const found = await orNull(
        calls.send<{ description?: string }>('iam', 'GET', `${base}/serviceAccounts/${email}`),
      );
      if (found !== null) requireOwn(found.description, wanted, `service account ${email}`);
      return found === null ? [] : [role];
    }),
  );
  const roleOf = async (role: CustomRole): Promise<Found['roles'][CustomRole]> => {
    const path = `${base}/roles/${roleId(wanted, role)}`;
    const found = await orNull(calls.send<RoleBody>('iam', 'GET', path));
    if (found === null) return null;
    requireOwn(found.description, wanted, `role ${roleId(wanted, role)}`);
    return { permissions: found.includedPermissions ?? [], isDeleted: found.deleted === true };
  };
  const [control, instance, store] = await Promise.all(customRoles.map(roleOf));
  return {
    accounts: accounts.flat(),
    roles: { 'control-plane': control ?? null, instance: instance ?? null, 'object-store': store ?? null },
  };
}

interface RoleBody {
  description?: string;
  includedPermissions?: string[];
  deleted?: boolean;
}

async function findBucket(calls: Calls, { deploymentId }: Wanted, bucket: string): Promise<boolean> {
  const found = await orNull(
    calls.send<{ labels?: Record<string, string> }>('storage', 'GET', `/storage/v1/b/${bucket}`),
  );
  if (found === null) return false;
  if (found.labels?.['ropewalk-deployment'] === deploymentId) return true;
  throw conflict(
    `bucket ${bucket}`,
    'Choose another name with --bucket; or set ROPEWALK_OBJECTS for a bucket of yours.',
  );
}

function requireOwn(description: string | undefined, wanted: Wanted, what: string): void {
  if ((description ?? '').endsWith(markOf(wanted))) return;
  throw conflict(what, 'Choose another name with --name.');
}

const conflict = (what: string, hint: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `The project has a ${what} that this deployment did not create.`,
    hint,
  });
