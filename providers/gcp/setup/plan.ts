// Plans a project's changes from its current state. Pure, so a second run after a crash plans exactly the rest.
import { defaultSchedulerPort } from '../../../domain/cluster/capacity/ingress-rules.ts';
import type { SetupStep } from '../../manifest.ts';
import {
  accountRoles,
  type AccountRole,
  type Binding,
  bindingsOf,
  type CustomRole,
  emailOf,
  roleId,
  rolesOf,
  ruleName,
  ruleRoles,
  type RuleRole,
  tagName,
  type Wanted,
} from './wanted.ts';

export interface Found {
  /** Required APIs that are not enabled. */
  disabled: readonly string[];
  /** The requested regions with their zones; empty while Compute Engine is not enabled. */
  regions: readonly { region: string; zones: readonly string[] }[];
  hasNetwork: boolean;
  /** The network's subnets, in every region. */
  subnets: readonly { region: string; cidr: string }[];
  rules: Record<RuleRole, { ranges: readonly string[] } | null>;
  accounts: readonly AccountRole[];
  /** A deleted role keeps its id for 37 days and can be restored for 7 of them. */
  roles: Record<CustomRole, { permissions: readonly string[]; isDeleted: boolean } | null>;
  hasBucket: boolean;
  bindings: readonly Binding[];
}

export type Change =
  | { do: 'enable'; service: string }
  | { do: 'createNetwork' | 'createBucket' }
  | { do: 'createSubnetwork'; region: string; cidr: string }
  | { do: 'createRule' | 'changeRule'; role: RuleRole; ranges: readonly string[] }
  | { do: 'createAccount'; role: AccountRole }
  | { do: 'createRole' | 'restoreRole' | 'updateRole'; role: CustomRole }
  | { do: 'bind'; binding: Binding };

export interface GcpStep extends SetupStep {
  change: Change | null;
}

export type RolePermissions = Record<CustomRole, readonly string[]>;
export const everywhere = '0.0.0.0/0';

export function planProject(found: Found, wanted: Wanted, permissions: RolePermissions): GcpStep[] {
  const steps: GcpStep[] = [];
  const add = (step: Partial<SetupStep> & Pick<SetupStep, 'kind' | 'name'>, change: Change | null): void => {
    const action = change === null ? 'keep' : 'create';
    steps.push({ action, region: null, id: null, detail: '', ...step, change });
  };
  for (const service of found.disabled)
    add(
      { action: 'change', kind: 'api', name: `${service}.googleapis.com`, detail: 'enable it' },
      { do: 'enable', service },
    );
  planNetwork(found, wanted, add);
  for (const role of accountRoles) {
    const detail = role === 'instance' ? 'of instances' : 'of the API and the Temporal workers';
    const exists = found.accounts.includes(role);
    add(
      { kind: 'service account', name: emailOf(wanted, role), detail },
      exists ? null : { do: 'createAccount', role },
    );
  }
  for (const role of rolesOf(wanted)) planRole(found.roles[role], role, wanted, permissions[role], add);
  if (wanted.bucket !== null)
    add(
      { kind: 'bucket', name: wanted.bucket, detail: 'of the object store; private, without versions' },
      found.hasBucket ? null : { do: 'createBucket' },
    );
  for (const binding of bindingsOf(wanted)) {
    const exists = found.bindings.some((each) => each.on === binding.on && each.role === binding.role);
    const on = binding.on === 'project' ? wanted.project : binding.on === 'bucket' ? wanted.bucket : binding.on;
    const detail = `${binding.member.replace(/@.*/, '')} has it on ${on}`;
    const step = { kind: 'role', name: binding.role.replace(/^projects\/[^/]+\/roles\//, ''), detail };
    if (exists) add(step, null);
    else add({ ...step, action: 'change', detail: `give it: ${detail}` }, { do: 'bind', binding });
  }
  return steps;
}

type Add = (step: Partial<SetupStep> & Pick<SetupStep, 'kind' | 'name'>, change: Change | null) => void;

function planNetwork(found: Found, wanted: Wanted, add: Add): void {
  const { name } = wanted;
  add(
    { kind: 'network', name, detail: 'with subnetworks of its own' },
    found.hasNetwork ? null : { do: 'createNetwork' },
  );
  const taken = found.subnets.map(({ cidr }) => cidr);
  for (const region of wanted.regions) {
    const existing = found.subnets.find((each) => each.region === region);
    const cidr = existing?.cidr ?? freeRange(taken);
    taken.push(cidr);
    const change = existing === undefined ? { do: 'createSubnetwork' as const, region, cidr } : null;
    add({ kind: 'subnetwork', name, region, detail: cidr }, change);
  }
  for (const role of ruleRoles) {
    const rule = found.rules[role];
    const ranges = role === 'cluster' ? [] : (wanted.clientRanges ?? rule?.ranges ?? [everywhere]);
    const step = { kind: 'firewall rule', name: ruleName(wanted, role), detail: ruleDetail(wanted, role, ranges) };
    if (rule === null) add(step, { do: 'createRule', role, ranges });
    else if (isSame(rule.ranges, ranges)) add(step, null);
    else add({ ...step, action: 'change' }, { do: 'changeRule', role, ranges });
  }
}

function ruleDetail(wanted: Wanted, role: RuleRole, ranges: readonly string[]): string {
  const tag = tagName(wanted, role);
  if (role === 'cluster') return `everything between instances with the tag ${tag}`;
  return `tcp ${defaultSchedulerPort} of instances with the tag ${tag} from ${ranges.join(', ')}`;
}

function planRole(
  found: Found['roles'][CustomRole],
  role: CustomRole,
  wanted: Wanted,
  permissions: readonly string[],
  add: Add,
): void {
  const step = { kind: 'custom role', name: roleId(wanted, role), detail: `ops/gcp/${role}.json` };
  if (found === null) return add(step, { do: 'createRole', role });
  if (found.isDeleted) add({ ...step, action: 'change', detail: 'restore it' }, { do: 'restoreRole', role });
  if (!isSame(found.permissions, permissions))
    add({ ...step, action: 'change', detail: `the permissions of ops/gcp/${role}.json` }, { do: 'updateRole', role });
  else if (!found.isDeleted) add(step, null);
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());

/** A /20 holds 4,091 instances. */
export const rangeNumber = (at: number | string): string => `10.${at}.0.0/20`;

function freeRange(taken: readonly string[]): string {
  const all = Array.from({ length: 256 }, (_, at) => rangeNumber(at));
  return all.find((range) => !taken.includes(range)) ?? '10.0.16.0/20';
}
