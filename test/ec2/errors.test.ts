// R20: every known error of EC2, as the emulated cloud returns it, has the meaning in this table. Users read AWS's own message
// and, unless it is a lack of capacity, the id of the request. Unknown errors are retried a bounded number of times. The table's
// sources are AWS's documentation and the handling in Karpenter and ParallelCluster, not the product.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { maxUnknownLaunches, unavailableOfferMs } from '../../domain/cluster/limits.ts';
import { knownCodes } from '../../providers/aws/errors.ts';
import type { FailureScope } from '../../providers/provider.ts';
import { freshOwner, placement, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { createEc2Cluster } from './cluster.ts';
import type { Ec2Cluster } from './cluster.ts';
import { inSimulatedTime } from './simulated-time.ts';

const codes: Record<FailureScope, string[]> = {
  unknown: ['IdempotentInstanceTerminated', 'IdempotentParameterMismatch'],
  offer: [
    'InsufficientInstanceCapacity',
    'UnfulfillableCapacity',
    'InsufficientHostCapacity',
    'InsufficientReservedInstanceCapacity',
    'ReservationCapacityExceeded',
    'InsufficientCapacity',
    'InsufficientCapacityOnOutpost',
    'Unsupported',
    'UnsupportedOperation',
  ],
  zone: ['InvalidAvailabilityZone', 'UnavailableZone', 'VolumeTypeNotAvailableInZone'],
  subnet: ['InsufficientFreeAddressesInSubnet', 'PrivateIpAddressLimitExceeded'],
  market: ['SpotMaxPriceTooLow', 'AuthFailure.ServiceLinkedRoleCreationNotPermitted', 'InvalidSpotInstanceRequestID'],
  quota: [
    'MaxSpotInstanceCountExceeded',
    'VcpuLimitExceeded',
    'InstanceLimitExceeded',
    'VolumeLimitExceeded',
    'MaxIOPSLimitExceeded',
    'NetworkInterfaceLimitExceeded',
    'ResourceLimitExceeded',
    'SecurityGroupLimitExceeded',
  ],
  account: [
    'MaxFleetCountExceeded',
    'UnauthorizedOperation',
    'AuthFailure',
    'AccessDenied',
    'AccessDeniedException',
    'InvalidClientTokenId',
    'SignatureDoesNotMatch',
    'ExpiredToken',
    'ExpiredTokenException',
    'RequestExpired',
    'UnrecognizedClientException',
    'InvalidSignatureException',
    'IncompleteSignature',
    'MissingAuthenticationToken',
    'MissingAuthenticationTokenException',
    'TagPolicyViolation',
    'OptInRequired',
    'Blocked',
    'PendingVerification',
  ],
  request: [
    'InvalidFleetConfig',
    'InvalidFleetConfiguration',
    'InvalidGroupId.Malformed',
    'InvalidPermission.Malformed',
    'InvalidSubnetID.Malformed',
    'InvalidTagKey.Malformed',
    'InvalidVpcID.NotFound',
    'ParameterNotFound',
    'RulesPerSecurityGroupLimitExceeded',
    'TagLimitExceeded',
    'InvalidSubnet',
    'InvalidSubnetID.NotFound',
    'InvalidGroup.NotFound',
    'InvalidSecurityGroupID.NotFound',
    'InvalidAMIID.NotFound',
    'InvalidAMIID.Malformed',
    'InvalidAMIID.Unavailable',
    'InvalidKeyPair.NotFound',
    'InvalidParameterValue',
    'InvalidParameterCombination',
    'InvalidParameter',
    'MissingParameter',
    'InvalidInstanceType',
    'InvalidBlockDeviceMapping',
    'InvalidUserData.Malformed',
    'SecurityGroupsPerInterfaceLimitExceeded',
  ],
  throttle: ['RequestLimitExceeded', 'Throttling', 'ThrottlingException', 'RequestThrottled', 'EC2ThrottledException'],
  cloud: [
    'InvalidLaunchTemplateName.NotFoundException',
    'InvalidLaunchTemplateId.NotFound',
    'InvalidLaunchTemplateId.VersionNotFound',
    'InternalError',
    'InternalFailure',
    'Server.InternalError',
    'ServiceUnavailable',
    'Unavailable',
  ],
};
const table = Object.entries(codes).flatMap(([scope, list]) => list.map((code) => ({ code, scope })));
const said = 'The words of AWS.';
const requestId = /\(AWS request [0-9a-f]{8}-[0-9a-f-]{27}\)$/;
const passing = new Set(['throttle', 'cloud']);
/** A lack of capacity or quota: users need no request id for AWS's support. */
const lacks = new Set(['offer', 'zone', 'subnet', 'market', 'quota']);

let cloud: TestCloud;
beforeAll(async () => {
  cloud = inSimulatedTime(await startCloud());
});
afterAll(() => cloud.close());
afterEach(() => cloud.emulator.send({ op: 'clearFaults' }));

const fail = async (code: string, status: number, message = said): Promise<void> => {
  for (const action of ['CreateFleet', 'RunInstances']) {
    const fault = { action, times: 1_000, kind: 'error', code, status, message } as const;
    await cloud.emulator.send({ op: 'fault', fault });
  }
};

const pools = (types: string[]): string[] =>
  types.flatMap((type) => ['a', 'b', 'c'].map((letter) => `${type}/us-east-1${letter}/on-demand`));

describe('an error of EC2', () => {
  it('is in this table if the product knows it, and the other way round', () => {
    expect(table.map(({ code }) => code).sort()).toEqual([...knownCodes].sort());
    expect(table.length).toBeGreaterThanOrEqual(40);
  });

  it.each(table)('of one pool, $code, reaches as far as a $scope', async ({ code, scope }) => {
    for (const pool of pools(['c6i.large'])) {
      await cloud.emulator.send({ op: 'poolError', pool, error: { code, message: said } });
    }
    const types = placement({ types: ['c6i.large'] });
    const { launched, failures } = await cloud.provider.launch(workersRequest(freshOwner(), 2, undefined, types));
    expect(launched).toEqual([]);
    expect(failures.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    for (const failure of failures) {
      expect(failure).toMatchObject({ code, scope, offer: 'c6i.large', text: expect.stringContaining(said) });
      expect(requestId.test(failure.text)).toBe(!lacks.has(scope));
    }
  });

  it.each(table)('of a whole request, $code, reaches as far as a $scope', async ({ code, scope }) => {
    await fail(code, passing.has(scope) ? 503 : 400);
    const launch = cloud.provider.launch(workersRequest(freshOwner(), 2));
    if (passing.has(scope)) {
      // The outcome is unknown: the activity repeats the same launch, and its operator reads the reason.
      await expect(launch).rejects.toThrow(requestId);
      return;
    }
    const { launched, failures } = await launch;
    expect([launched.length, failures.reduce((sum, { count }) => sum + count, 0)]).toEqual([0, 2]);
    expect(failures[0]).toMatchObject({ code, scope, text: expect.stringContaining(said) });
    expect(requestId.test(failures[0]?.text ?? '')).toBe(!lacks.has(scope));
  });

  it('of the first three types costs no call: the fourth is in the same one', async () => {
    const short = ['c6i.xlarge', 'c6i.2xlarge', 'r6i.large'];
    for (const pool of pools(short)) await cloud.emulator.send({ op: 'capacity', pool, instances: 0 });
    const before = (await cloud.emulator.counts()).calls['CreateFleet'] ?? 0;
    const types = placement({ types: [...short, 'm7i.large'] });
    const { launched } = await cloud.provider.launch(workersRequest(freshOwner(), 2, undefined, types));
    expect(launched.map(({ offer }) => offer)).toEqual(['m7i.large', 'm7i.large']);
    expect((await cloud.emulator.counts()).calls['CreateFleet']).toBe(before + 1);
  });
});

describe('a cluster that meets an error', () => {
  it('of unknown cause tries again, a bounded number of times, and shows what AWS said', async () => {
    await fail('SomethingNew', 400);
    const cluster = createEc2Cluster(cloud, { instances: 3 });
    await cluster.runUntil(() => false);
    const tries = (await cloud.emulator.counts()).injected['CreateFleet error SomethingNew'];
    expect([tries, cluster.state.launched]).toEqual([maxUnknownLaunches * 2, 0]);
    const { stopRequested } = cluster.state;
    expect(stopRequested?.code).toBe('NO_INSTANCES');
    expect(stopRequested?.text).toContain('SomethingNew, which Ropewalk does not know; it retries at most 10 times');
    expect(stopRequested?.text).toContain(said);
    expect(stopRequested?.text).toMatch(requestId);
  });

  it('of unknown cause goes on as soon as it has passed', async () => {
    await fail('SomethingNew', 400);
    const cluster = createEc2Cluster(cloud, {
      instances: 3,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
    await cluster.runUntil(() => cluster.state.unknownLaunches === maxUnknownLaunches - 1);
    await cloud.emulator.send({ op: 'clearFaults' });
    await cluster.runUntil(() => cluster.state.readyAtMs !== null);
    expect([cluster.state.launched, cluster.state.unknownLaunches]).toEqual([3, 0]);
    await cluster.stop();
  });

  it('that is permanent ends at once, and says what to do', async () => {
    await fail('UnauthorizedOperation', 403);
    const cluster = createEc2Cluster(cloud, { instances: 3 });
    await cluster.settle();
    expect(cluster.state.stopRequested?.code).toBe('NO_INSTANCES');
    expect(cluster.state.stopRequested?.text).toContain('lacks a permission. docs/aws.md lists those that it needs.');
  });

  it('of all offers excludes them for three minutes and keeps its instances', async () => {
    for (const pool of pools(['m6i.large'])) {
      const error = { code: 'InsufficientInstanceCapacity', message: said };
      await cloud.emulator.send({ op: 'poolError', pool, error });
    }
    for (const pool of pools(['m5.large'])) await cloud.emulator.send({ op: 'capacity', pool, instances: 1 });
    const askedAfterMs: number[] = [];
    const cluster: Ec2Cluster = createEc2Cluster(cloud, {
      instances: 3,
      machines: { workerTypes: ['m6i.large', 'm5.large'], headTypes: ['t3.large'] },
      asked: () => void askedAfterMs.push(cluster.nowMs() - cluster.state.createdAtMs),
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
    await cluster.runUntil(() => askedAfterMs.length === 2);
    expect(cluster.state.instances.map(({ offer }) => offer)).toEqual(['t3.large', 'm5.large']);
    expect(askedAfterMs[1]).toBeGreaterThanOrEqual(unavailableOfferMs);
    for (const pool of pools(['m5.large'])) await cloud.emulator.send({ op: 'capacity', pool, instances: null });
    await cluster.runUntil(() => cluster.state.readyAtMs !== null);
    expect(cluster.state.instances).toHaveLength(3);
    await cluster.stop();
  });
});
