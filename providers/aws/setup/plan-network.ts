// Plans a region's changes from its current state. Pure, so a second run after a crash plans exactly the rest.
import { defaultSchedulerPort } from '../../../domain/cluster/capacity/ingress-rules.ts';
import type { SetupStep } from '../../manifest.ts';
import { everywhere, type Wanted } from './wanted.ts';

export interface FoundNetwork {
  region: string;
  /** Zones that accept launches. */
  zones: readonly string[];
  vpc: { id: string; cidr: string; hostNames: boolean } | null;
  gateway: { id: string; vpc: string | null } | null;
  /** At most one per zone. */
  subnets: readonly { id: string; zone: string; cidr: string }[];
  routes: { id: string; leadsOut: boolean; subnets: readonly string[] } | null;
  groups: Record<GroupRole, { id: string; rules: readonly string[] } | null>;
  /** The operator owns the network: setup never creates, changes or deletes any of it. */
  isGiven: boolean;
}

export type GroupRole = 'cluster' | 'scheduler';

/** The action of a step; resource names stand for ids that earlier steps create. */
export type NetworkChange =
  | { do: 'createVpc'; cidr: string }
  | { do: 'nameHosts' }
  | { do: 'createGateway' }
  | { do: 'attachGateway' }
  | { do: 'createRoutes' }
  | { do: 'leadOut' }
  | { do: 'createSubnet'; zone: string; cidr: string }
  | { do: 'associate'; zone: string }
  | { do: 'createGroup'; role: GroupRole }
  | { do: 'allow' | 'revoke'; role: GroupRole; range: string | null };

export interface NetworkStep extends SetupStep {
  change: NetworkChange | null;
}

const vpcCidr = '10.0.0.0/16';
/** In the rules of the group `cluster`, `null` is the group itself. */
const self = 'self';

export function planNetwork(found: FoundNetwork, wanted: Wanted): NetworkStep[] {
  const steps: NetworkStep[] = [];
  const add = (step: Omit<NetworkStep, 'region'>): void => void steps.push({ region: found.region, ...step });
  const keep = (kind: string, name: string, id: string, detail: string): void =>
    add({ action: 'keep', kind, name, id, detail, change: null });
  if (found.isGiven) planGiven(found, keep);
  else planOwn(found, wanted, add, keep);
  for (const role of ['cluster', 'scheduler'] as const) planGroup(found, wanted, role, add, keep);
  return steps;
}

type Add = (step: Omit<NetworkStep, 'region'>) => void;
type Keep = (kind: string, name: string, id: string, detail: string) => void;

function planGiven({ vpc, subnets }: FoundNetwork, keep: Keep): void {
  if (vpc !== null) keep('vpc', 'yours', vpc.id, vpc.cidr);
  for (const { id, zone, cidr } of subnets) keep('subnet', 'yours', id, `${zone}, ${cidr}`);
}

function planOwn(found: FoundNetwork, { name }: Wanted, add: Add, keep: Keep): void {
  const { vpc, gateway, routes } = found;
  const create = (kind: string, label: string, detail: string, change: NetworkChange): void =>
    add({ action: 'create', kind, name: label, id: null, detail, change });
  const change = (kind: string, id: string | null, detail: string, what: NetworkChange): void =>
    add({ action: 'change', kind, name, id, detail, change: what });

  const cidr = vpc?.cidr ?? vpcCidr;
  if (vpc === null) create('vpc', name, cidr, { do: 'createVpc', cidr });
  else keep('vpc', name, vpc.id, cidr);
  if (vpc?.hostNames !== true) change('vpc', vpc?.id ?? null, 'give instances DNS names', { do: 'nameHosts' });

  if (gateway === null) create('internet gateway', name, '', { do: 'createGateway' });
  else keep('internet gateway', name, gateway.id, '');
  if (vpc === null || gateway?.vpc !== vpc.id) {
    change('internet gateway', gateway?.id ?? null, 'attach it to the vpc', { do: 'attachGateway' });
  }

  if (routes === null) create('route table', name, '', { do: 'createRoutes' });
  else keep('route table', name, routes.id, '');
  if (routes?.leadsOut !== true) {
    change('route table', routes?.id ?? null, `${everywhere} to the internet gateway`, { do: 'leadOut' });
  }

  const free = freeRanges(cidr, found.subnets);
  for (const zone of found.zones) {
    const subnet = found.subnets.find((each) => each.zone === zone);
    if (subnet === undefined) {
      const range = free.shift();
      // A /16 VPC has room for sixteen; no region has more zones.
      if (range === undefined) continue;
      create('subnet', `${name}-${zone}`, range, { do: 'createSubnet', zone, cidr: range });
    } else keep('subnet', `${name}-${zone}`, subnet.id, subnet.cidr);
    if (subnet === undefined || routes?.subnets.includes(subnet.id) !== true) {
      change('subnet', subnet?.id ?? null, `${zone}: use the route table`, { do: 'associate', zone });
    }
  }
}

function planGroup(found: FoundNetwork, wanted: Wanted, role: GroupRole, add: Add, keep: Keep): void {
  const group = found.groups[role];
  const name = `${wanted.name}-${role}`;
  if (group === null) {
    const detail = role === 'cluster' ? 'of every instance' : 'of head instances too';
    add({ action: 'create', kind: 'security group', name, id: null, detail, change: { do: 'createGroup', role } });
  } else keep('security group', name, group.id, group.rules.join(', '));

  const [has, needed] = [group?.rules ?? [], rulesOf(role, wanted, group?.rules ?? null)];
  const rule = (what: 'allow' | 'revoke', text: string): void => {
    const range = text === clusterRule ? null : (text.split(' ').at(-1) ?? '');
    const detail = `${what} ${text}`;
    const change = { do: what, role, range } as const;
    add({ action: 'change', kind: 'security group', name, id: group?.id ?? null, detail, change });
  };
  for (const text of needed) if (!has.includes(text)) rule('allow', text);
  // Rules of other ports belong to the operator.
  for (const text of has) if (isOurs(role, text) && !needed.includes(text)) rule('revoke', text);
}

export const clusterRule = `everything from ${self}`;
export const clientRule = (range: string): string => `tcp ${defaultSchedulerPort} from ${range}`;

const isOurs = (role: GroupRole, text: string): boolean =>
  role === 'scheduler' && text.startsWith(`tcp ${defaultSchedulerPort} from `);

function rulesOf(role: GroupRole, { clientRanges }: Wanted, has: readonly string[] | null): readonly string[] {
  if (role === 'cluster') return [clusterRule];
  if (clientRanges !== null) return clientRanges.map(clientRule);
  const ours = (has ?? []).filter((text) => isOurs(role, text));
  return ours.length > 0 ? ours : [clientRule(everywhere)];
}

/** The /20 ranges of a /16 VPC without a subnet; fewer in a smaller VPC. */
function freeRanges(cidr: string, subnets: readonly { cidr: string }[]): string[] {
  const [a, b] = cidr.split('.');
  const all = Array.from({ length: 16 }, (_, at) => `${a}.${b}.${at * 16}.0/20`);
  return all.filter((range) => !subnets.some((subnet) => subnet.cidr === range));
}
