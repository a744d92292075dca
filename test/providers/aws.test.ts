// The EC2 provider against the contract of all providers, on the emulated cloud, and its own features: zones and roles, markets,
// lost answers, every error code.

import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { bootMarker } from '../../domain/cloud-names.ts';
import { classify, knownCodes } from '../../providers/aws/errors.ts';
import { providerContract } from './contract.ts';
import type { LaunchRequest } from '../../providers/provider.ts';
import { eventually } from '../support/eventually.ts';
import { launchElsewhere, startStubbornWork, stubbornMachine } from './emulated-machines.ts';
import { freshOwner, placement, startCloud, workersRequest } from './aws-cloud.ts';
import type { TestCloud } from './aws-cloud.ts';

const capacity = 3;

async function limit(cloud: TestCloud, pool: string, byZone: { a: number; b: number; c: number }): Promise<void> {
  const [type, market] = pool.split('/');
  for (const [zone, instances] of Object.entries(byZone)) {
    await cloud.emulator.send({ op: 'capacity', pool: `${type}/us-east-1${zone}/${market}`, instances });
  }
}

providerContract('aws, emulated', async () => {
  const cloud = await startCloud(stubbornMachine);
  await limit(cloud, 'm6i.large/on-demand', { a: 0, b: capacity, c: 0 });
  return {
    provider: cloud.provider,
    freshOwner,
    request: workersRequest,
    launchElsewhere: (request) => launchElsewhere('aws-launch-elsewhere.ts', { options: cloud.options, request }),
    capacity,
    crash: (id) => cloud.emulator.send({ op: 'die', id }),
    startStubbornWork: (ids) => startStubbornWork(cloud.directory, ids),
    leaveBehind: ({ deploymentId, workspace, cluster }) =>
      cloud.emulator.plant({
        ...{ kind: 'volume', ageMs: 0 },
        tags: {
          'ropewalk:deployment': deploymentId,
          'ropewalk:workspace': workspace,
          'ropewalk:cluster': String(cluster),
        },
      }),
    until: async (condition) => void (await eventually(condition)),
    cleanUp: () => cloud.close(),
  };
});

describe('a launch on EC2', () => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = await startCloud();
  });
  afterEach(() => cloud.close());

  const clusterRequest = (workers: number, changes: Partial<ReturnType<typeof placement>> = {}): LaunchRequest => {
    const request = workersRequest(freshOwner(), workers, undefined, placement(changes));
    return { ...request, slots: [{ slot: 0, generation: 1, role: 'head' }, ...request.slots] };
  };

  it('puts the head instance, on demand, into the zone that could give the workers', async () => {
    await cloud.emulator.send({ op: 'capacity', pool: 'm6i.large/us-east-1a/spot', instances: 1 });
    await cloud.emulator.send({ op: 'capacity', pool: 'm6i.large/us-east-1b/spot', instances: 2 });
    const { launched, failures } = await cloud.provider.launch(clusterRequest(5, { market: 'spot' }));
    expect([launched.map(({ slot }) => slot), failures]).toEqual([[0, 1, 2, 3, 4, 5], []]);
    expect(new Set(launched.map(({ zone }) => zone))).toEqual(new Set(['us-east-1c']));
    const seen = new Map((await cloud.emulator.instances()).map((instance) => [instance.id, instance]));
    expect(launched.map(({ id }) => seen.get(id)?.market)).toEqual([
      'on-demand',
      ...Array.from({ length: 5 }, () => 'spot'),
    ]);
  });

  it('tags everything by the call that creates it, and gives the instance only what it needs to register', async () => {
    const request = clusterRequest(1);
    if (request.placement !== undefined) request.placement.tags = { project: 'climate', 'ropewalk:workspace': 'other' };
    await cloud.provider.launch(request);
    for (const instance of await cloud.emulator.instances()) {
      expect(instance.tags).toMatchObject({
        project: 'climate',
        'ropewalk:deployment': 'd_test',
        'ropewalk:workspace': 'default',
        'ropewalk:cluster': String(request.owner.cluster),
      });
      expect(Object.values(instance.tags)).not.toContain(request.launchToken);
      const line = instance.userData.split('\n').find((each) => each.startsWith(bootMarker)) ?? '';
      expect(JSON.parse(Buffer.from(line.slice(bootMarker.length), 'base64').toString())).toEqual({
        apiUrl: request.apiUrl,
        launchToken: request.launchToken,
        owner: request.owner,
      });
    }
    expect((await cloud.emulator.counts()).calls).not.toHaveProperty('CreateTags');
  });

  it('asks for types in their order, also where a later one is cheaper', async () => {
    const types = ['m6i.xlarge', 'm6i.large'];
    const { launched } = await cloud.provider.launch(workersRequest(freshOwner(), 3, undefined, placement({ types })));
    expect(launched.map(({ offer }) => offer)).toEqual(['m6i.xlarge', 'm6i.xlarge', 'm6i.xlarge']);
  });

  it('takes the next type where the first is short, and groups what is missing', async () => {
    await limit(cloud, 'm6i.large/on-demand', { a: 2, b: 2, c: 2 });
    await limit(cloud, 'm5.large/on-demand', { a: 1, b: 1, c: 1 });
    const owner = freshOwner();
    const types = ['m6i.large', 'm5.large'];
    const outcome = await cloud.provider.launch(workersRequest(owner, 5, undefined, placement({ types })));
    expect(outcome.launched.map(({ offer }) => offer).sort()).toEqual(['m5.large', 'm6i.large', 'm6i.large']);
    expect(outcome.failures.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    for (const failure of outcome.failures) expect(failure).toMatchObject({ scope: 'offer', market: 'on-demand' });
  });

  it('falls back to single launches where the account allows no fleets', async () => {
    await cloud.emulator.send({
      op: 'fault',
      fault: { action: 'CreateFleet', times: 10, kind: 'error', code: 'UnauthorizedOperation', status: 403 },
    });
    await limit(cloud, 'm6i.large/on-demand', { a: 2, b: 2, c: 2 });
    const request = workersRequest(freshOwner(), 3, undefined, placement({ types: ['m6i.large', 'm5.large'] }));
    const outcome = await cloud.provider.launch(request);
    expect(outcome.launched).toHaveLength(3);
    expect(new Set(outcome.launched.map(({ zone }) => zone)).size).toBe(1);
    const { Reservations = [] } = await new EC2Client({ region: 'us-east-1' }).send(new DescribeInstancesCommand({}));
    for (const { SecurityGroups, PublicIpAddress } of Reservations.flatMap(({ Instances }) => Instances ?? []))
      expect([SecurityGroups, PublicIpAddress]).toEqual([[{ GroupId: 'sg-cluster' }], expect.any(String)]);
    expect(await cloud.provider.launch(request)).toEqual(outcome);
    expect((await cloud.emulator.ledger()).live).toHaveLength(3);
  });

  it('ends an instance that EC2 does not show yet, and forgets an id that it never knew', async () => {
    await cloud.emulator.send({ op: 'delays', visibleMs: 60_000 });
    const owner = freshOwner();
    const { launched } = await cloud.provider.launch(workersRequest(owner, 2));
    const ids = [...launched.map(({ id }) => id), 'i-00000000000000000'];
    await cloud.provider.terminate(owner, ids, AbortSignal.timeout(20_000));
    expect((await cloud.emulator.ledger()).live).toEqual([]);
  });

  it('deletes its launch templates with the last instance', async () => {
    const request = clusterRequest(1);
    const { launched } = await cloud.provider.launch(request);
    const [first = '', ...rest] = launched.map(({ id }) => id);
    const end = (ids: string[]) => cloud.provider.terminate(request.owner, ids, AbortSignal.timeout(20_000));
    await end([first]);
    expect((await cloud.emulator.counts()).calls['DeleteLaunchTemplate']).toBeUndefined();
    await end(rest);
    expect((await cloud.emulator.counts()).calls['DeleteLaunchTemplate']).toBe(2);
  });
});

describe('the error table', () => {
  it('has a scope and a sentence for every code, and marks unknown codes', () => {
    for (const code of knownCodes) {
      const { text: sentence, known } = classify(code, 'AWS says so');
      expect([code, known, sentence.length > 20, sentence.includes('AWS says so')]).toEqual([code, true, true, true]);
    }
    expect(knownCodes.length).toBeGreaterThanOrEqual(40);
    expect(classify('SomethingNew', 'hm')).toMatchObject({ scope: 'unknown', known: false });
    expect(classify('InvalidParameterValue', 'Invalid IAM Instance Profile name').scope).toBe('unknown');
    expect(classify('InvalidParameterValue', 'something else').scope).toBe('request');
  });
});
