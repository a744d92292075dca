// The state of the emulated cloud. Time-dependent states (pending, running, terminated) are not stored but follow from times:
// advancing the clock advances every state.
import { randomBytes } from 'node:crypto';

export type Market = 'on-demand' | 'spot';

export interface Subnet {
  id: string;
  zone: string;
  /** The number of free addresses. */
  free: number;
  vpc: string;
  cidr: string;
  tags: Record<string, string>;
  shownFromMs: number;
}

export interface Vpc {
  id: string;
  cidr: string;
  isDefault: boolean;
  tags: Record<string, string>;
  dnsHostnames: boolean;
  shownFromMs: number;
}

export interface Gateway {
  id: string;
  /** The VPC that it is attached to. */
  vpc: string | null;
  tags: Record<string, string>;
  shownFromMs: number;
}

export interface RouteTable {
  id: string;
  vpc: string;
  isMain: boolean;
  /** Destination -> gateway. */
  routes: Map<string, string>;
  /** Association -> subnet. */
  subnets: Map<string, string>;
  tags: Record<string, string>;
  shownFromMs: number;
}

export interface Template {
  id: string;
  name: string;
  data: TemplateData;
  tags: Record<string, string>;
  createdAtMs: number;
}

export interface TemplateData {
  imageId: string | null;
  instanceType: string | null;
  /** Base64, as sent. */
  userData: string;
  profile: string | null;
  securityGroups: string[];
  /** Whether the data specifies a network interface; only that interface may then name the subnet. */
  hasInterface: boolean;
  shutdownBehavior: 'stop' | 'terminate';
  httpTokens: 'optional' | 'required';
  publicIp: boolean;
  diskGib: number | null;
  /** For the root volume; true unless the mapping sets it to false. */
  deleteOnTermination: boolean;
  tags: Record<string, string>;
  volumeTags: Record<string, string>;
  /** For the spot request; refused when the launch makes none. */
  spotRequestTags: Record<string, string>;
}

export interface Instance {
  id: string;
  reservation: string;
  type: string;
  zone: string;
  market: Market;
  subnet: string;
  data: TemplateData;
  tags: Record<string, string>;
  volumeId: string;
  privateIp: string;
  /** Differs from the private address, as in EC2: the machine itself knows it only from its metadata. */
  publicIp: string | null;
  launchedAtMs: number;
  /** When describe first shows it. */
  visibleFromMs: number;
  runningFromMs: number;
  /** Stopped from outside: its volume stays, and is billed. */
  stop: { atMs: number; stoppedAtMs: number } | null;
  end: { atMs: number; goneAtMs: number; code: string } | null;
  interruption: { noticeAtMs: number; atMs: number } | null;
  rebalanceAtMs: number | null;
  clientToken: string;
  fleet: string | null;
  /** It boots, but its agent never calls home. */
  mute: boolean;
}

export interface Volume {
  id: string;
  zone: string;
  sizeGib: number;
  tags: Record<string, string>;
  createdAtMs: number;
  /** The instance that it was created with; null for one that was never attached. */
  instance: Instance | null;
  deleteOnTermination: boolean;
  deletedAtMs: number | null;
}

export interface SecurityGroup {
  id: string;
  name: string;
  vpc: string;
  description: string;
  tags: Record<string, string>;
  /** `tcp 22 0.0.0.0/0`, `-1 -1 sg-...` */
  rules: string[];
  shownFromMs: number;
}

/** Of the initial groups: clients may reach the scheduler from everywhere, members of a cluster each other. */
export const fixedRules: Readonly<Record<string, string[]>> = {
  'sg-cluster': [],
  'sg-scheduler': ['tcp 8786 0.0.0.0/0'],
};

export interface Region {
  name: string;
  zones: string[];
  vpcs: Map<string, Vpc>;
  gateways: Map<string, Gateway>;
  routeTables: Map<string, RouteTable>;
  subnets: Subnet[];
  /** The initial groups. */
  securityGroups: string[];
  groups: Map<string, SecurityGroup>;
  profiles: string[];
  templates: Map<string, Template>;
  instances: Map<string, Instance>;
  /** Includes deleted ones. */
  volumes: Map<string, Volume>;
  /** `type/zone/market` -> how many fit at the same time; without an entry the capacity is unlimited. */
  capacity: Map<string, number>;
  /** Price changes since the start, by `type/zone`, oldest first. */
  spotPrices: { pool: string; atMs: number; pricePerHour: number }[];
  zonesDown: Set<string>;
  /** `type/zone/market` -> the error that a fleet gets for that pool, whatever its capacity. */
  poolErrors: Map<string, { code: string; message: string }>;
  /** `standard/on-demand` and the like -> vCPUs at the same time. */
  quotas: Map<string, number>;
  quotaRequests: QuotaRequest[];
  /** Client token -> the request's content and its answer. */
  tokens: Map<string, { content: string; answer: string }>;
  logGroups: Map<string, LogGroup>;
}

export interface QuotaRequest {
  Id: string;
  QuotaCode: string;
  DesiredValue: number;
  Status: string;
}

export interface LogGroup {
  retentionDays: number | null;
  streams: Map<string, LogEvent[]>;
}

export interface LogEvent {
  eventId: string;
  timestamp: number;
  message: string;
  ingestionTime: number;
}

export function createRegion(name: string): Region {
  const zones = ['a', 'b', 'c'].map((letter) => `${name}${letter}`);
  const given = { tags: {}, shownFromMs: 0 };
  // As in every account: a default VPC with an internet gateway.
  const vpc: Vpc = { id: `vpc-${name}`, cidr: '172.31.0.0/16', isDefault: true, dnsHostnames: true, ...given };
  const gateway: Gateway = { id: `igw-${name}`, vpc: vpc.id, ...given };
  const routes = new Map([[everywhere, gateway.id]]);
  const routeTable: RouteTable = {
    ...{ id: `rtb-${name}`, vpc: vpc.id, isMain: true },
    ...{ routes, subnets: new Map(), ...given },
  };
  return {
    name,
    zones,
    vpcs: new Map([[vpc.id, vpc]]),
    gateways: new Map([[gateway.id, gateway]]),
    routeTables: new Map([[routeTable.id, routeTable]]),
    subnets: zones.map((zone, at) => ({
      ...{ id: `subnet-${zone}`, zone, free: 4091, vpc: vpc.id },
      ...{ cidr: `172.31.${at * 16}.0/20`, ...given },
    })),
    securityGroups: Object.keys(fixedRules),
    groups: new Map(),
    profiles: ['ropewalk'],
    templates: new Map(),
    instances: new Map(),
    volumes: new Map(),
    capacity: new Map(),
    spotPrices: [],
    zonesDown: new Set(),
    poolErrors: new Map(),
    quotas: new Map(),
    quotaRequests: [],
    tokens: new Map(),
    logGroups: new Map(),
  };
}

const everywhere = '0.0.0.0/0';

export const hexId = (prefix: string): string => `${prefix}-${randomBytes(9).toString('hex').slice(0, 17)}`;

export type InstanceState = 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';

export function stateAt(instance: Instance, nowMs: number): InstanceState {
  if (instance.end !== null && nowMs >= instance.end.goneAtMs) return 'terminated';
  if (instance.end !== null && nowMs >= instance.end.atMs) return 'shutting-down';
  if (instance.stop !== null && nowMs >= instance.stop.atMs) {
    return nowMs >= instance.stop.stoppedAtMs ? 'stopped' : 'stopping';
  }
  return nowMs >= instance.runningFromMs ? 'running' : 'pending';
}

/** Null when it was deleted. */
export function volumeStateAt(volume: Volume, nowMs: number): 'in-use' | 'available' | null {
  if (volume.deletedAtMs !== null) return null;
  if (volume.instance === null) return 'available';
  if (stateAt(volume.instance, nowMs) !== 'terminated') return 'in-use';
  return volume.deleteOnTermination ? null : 'available';
}

/** Counts against capacity, quota and cost. */
export const isLive = (instance: Instance, nowMs: number): boolean =>
  ['pending', 'running'].includes(stateAt(instance, nowMs));
