// The emulated clouds for tests of every cloud: one provider, one ledger, and the orders that both emulators understand.
import { priceOf as priceOnGce } from '../../providers/gcp/catalogue.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import { createGcpProvider } from '../../providers/gcp/provider.ts';
import type { Market, Provider } from '../../providers/provider.ts';
import type { LedgerEntry } from '../emulator/ledger.ts';
import { instanceTypes, priceOf as priceOnEc2 } from '../emulator/types.ts';
import { inSimulatedTime } from '../ec2/simulated-time.ts';
import { awsFile, awsSettings, startCloud } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { gcpFile, gcpSettings, startGcpCloud } from '../providers/gcp-cloud.ts';
import { launchRequestsOf } from '../providers/launch-requests.ts';
import { ec2Side, gceSide } from './cloud-sides.ts';
import type { CloudSide } from './cloud-sides.ts';
import { ec2Environment } from './ec2-stack.ts';
import { gcpEnvironment } from './gcp-stack.ts';

export interface CloudUnderTest {
  name: 'aws' | 'gcp';
  title: string;
  region: string;
  zones: string[];
  /** Similar types with 2 vCPUs: a test's first choice, and its replacement. */
  types: [string, string, string];
  /** The call that launches, as the emulator counts it. */
  launchCall: string;
  /** From the notice of an interruption to the instance's end. */
  noticeMs: number;
  /** Keys of the tags, or labels, by which Ropewalk identifies its own resources. */
  tags: { deployment: string; workspace: string; cluster: string; role: string };
  /** The control plane's settings, and the name of their file. */
  file: object;
  /** The same with a second region, where resources can be planted. */
  fileOfTwoRegions: object;
  secondRegion: string;
  settingsVariable: string;
  /** For the control plane's processes. */
  environment: (emulator: { url: string }, settings: string) => Record<string, string>;
  /** The call that lists instances, as the emulator counts it. */
  listCall: string;
  /** The calls of a termination that are not lists. */
  endCalls: string[];
  /** The cloud's refusal of calls beyond its request rate. */
  throttling: { code: string; status: number };
  /** US dollars an hour. */
  priceOf: (type: string, market: Market) => number;
  /** For a public IPv4 address, likewise. */
  addressPriceOf: (market: Market) => number;
  /** `machine`: as of startCloud. */
  start: (machine?: string) => Promise<StartedCloud>;
  /** The provider's waits advance the emulator's clock instead. */
  startInSimulatedTime: () => Promise<StartedCloud & { wait: (ms: number) => Promise<void> }>;
}

/** `code` and `status` of an `error`. */
export interface CloudFault {
  action: string;
  nth?: number;
  times?: number;
  kind: 'error' | 'lost' | 'cut';
  code?: string;
  message?: string;
  status?: number;
}

export type CloudOrder =
  | { op: 'capacity'; pool: string; instances: number | null }
  | { op: 'fault'; fault: CloudFault }
  | { op: 'loseAnswers'; action: string; share: number; seed: number }
  | { op: 'throttle'; on: boolean }
  | { op: 'clearFaults' }
  | { op: 'delays'; visibleMs?: number; visibleUpToMs?: number; pendingMs?: number; shutdownMs?: number }
  | { op: 'advance'; ms: number }
  | { op: 'interrupt'; id: string; inMs: number }
  | { op: 'die' | 'stop'; id: string };

export interface CloudEmulator {
  url: string;
  send(order: CloudOrder): Promise<void>;
  ledger(): Promise<{ entries: LedgerEntry[]; live: string[] }>;
  counts(): Promise<{ calls: Record<string, number>; injected: Record<string, number> }>;
}

export interface StartedCloud extends ReturnType<typeof launchRequestsOf>, CloudSide {
  of: CloudUnderTest;
  emulator: CloudEmulator;
  provider: Provider;
  /** As in another process, without any cached state. */
  anotherProvider: () => Provider;
  /** Instances that cost money, also those that are off, and volumes. */
  billed: () => Promise<string[]>;
  close: () => Promise<void>;
}

const { subnets, securityGroups } = awsFile;
const ec2Place = { subnets, securityGroups };

export const ec2: CloudUnderTest = {
  name: 'aws',
  title: 'EC2',
  region: awsSettings.region,
  zones: awsSettings.subnets.map(({ zone }) => zone),
  types: ['m6i.large', 'm5.large', 'm7i.large'],
  launchCall: 'CreateFleet',
  listCall: 'DescribeInstances',
  endCalls: ['TerminateInstances'],
  throttling: { code: 'RequestLimitExceeded', status: 503 },
  file: awsFile,
  fileOfTwoRegions: {
    regions: { [awsFile.region]: ec2Place, 'eu-central-1': ec2Place },
    defaultRegion: awsFile.region,
    node: awsFile.node,
  },
  secondRegion: 'eu-central-1',
  settingsVariable: 'ROPEWALK_AWS_SETTINGS',
  environment: ec2Environment,
  noticeMs: 120_000,
  tags: {
    deployment: 'ropewalk:deployment',
    workspace: 'ropewalk:workspace',
    cluster: 'ropewalk:cluster',
    role: 'ropewalk:role',
  },
  priceOf: (type, market) => {
    const known = instanceTypes.get(type);
    return known === undefined ? 0 : priceOnEc2(known, market);
  },
  addressPriceOf: () => 0.005,
  start: async (machine) => startedEc2(await startCloud(machine ?? null)),
  startInSimulatedTime: async () => {
    const cloud = inSimulatedTime(await startCloud());
    return { ...startedEc2(cloud), wait: cloud.wait };
  },
};

const startedEc2 = (cloud: TestCloud): StartedCloud => ({
  ...cloud,
  ...ec2Side(cloud.emulator),
  ...launchRequestsOf(ec2.types[0]),
  of: ec2,
  anotherProvider: () => createAwsProvider(cloud.options),
  billed: async () => [
    ...(await cloud.emulator.instances()).filter(({ state }) => state !== 'terminated').map(({ id }) => id),
    ...(await cloud.emulator.resources()).filter(({ kind }) => kind === 'volume').map(({ id }) => id),
  ],
});

const { region: _region, zones, subnetwork, ...projectFile } = gcpFile;

export const computeEngine: CloudUnderTest = {
  name: 'gcp',
  title: 'Compute Engine',
  region: gcpSettings.region,
  zones: gcpSettings.zones,
  types: ['n2-standard-2', 'n2d-standard-2', 'e2-standard-2'],
  launchCall: 'bulkInsert',
  listCall: 'instances.aggregatedList',
  endCalls: ['instances.delete', 'zoneOperations.wait'],
  throttling: { code: 'rateLimitExceeded', status: 403 },
  file: gcpFile,
  fileOfTwoRegions: {
    ...projectFile,
    regions: {
      [gcpFile.region]: { zones, subnetwork },
      'europe-west4': { zones: ['europe-west4-a'], subnetwork },
    },
    defaultRegion: gcpFile.region,
  },
  secondRegion: 'europe-west4',
  settingsVariable: 'ROPEWALK_GCP_SETTINGS',
  environment: gcpEnvironment,
  noticeMs: 30_000,
  tags: {
    deployment: 'ropewalk-deployment',
    workspace: 'ropewalk-workspace',
    cluster: 'ropewalk-cluster',
    role: 'ropewalk-role',
  },
  priceOf: (type, market) => priceOnGce(gcpSettings.region, type, market) ?? 0,
  addressPriceOf: (market) => (market === 'spot' ? 0.0025 : 0.005),
  start: async (machine) => {
    const cloud = await startGcpCloud(machine ?? null);
    return {
      ...cloud,
      ...gceSide(cloud.emulator),
      ...launchRequestsOf(computeEngine.types[0]),
      of: computeEngine,
      anotherProvider: () => createGcpProvider(cloud.options),
      billed: async () => [
        ...(await cloud.emulator.ledger()).existing,
        ...(await cloud.emulator.resources()).disks.map(({ name }) => name),
      ],
    };
  },
  // It has no call rate of its own.
  startInSimulatedTime: async () => {
    const cloud = await computeEngine.start();
    return { ...cloud, wait: (ms) => cloud.emulator.send({ op: 'advance', ms }) };
  },
};

/** For `describe.each`: `$title` names it. */
export const clouds: readonly CloudUnderTest[] = [ec2, computeEngine];
