// A launch without instances leaves no template behind, however often it is retried; one that may have launched keeps its
// template, and a repeat of a finished launch launches nothing twice. Oracle: the emulated cloud's resources.
import { DescribeInstancesCommand } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createAwsClients } from '../../providers/aws/clients.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import { ensureTemplate } from '../../providers/aws/templates.ts';
import { awsSettings, freshOwner, placement, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { createEc2Cluster } from './cluster.ts';
import { inSimulatedTime } from './simulated-time.ts';

const hourMs = 3_600_000;
const types = ['m6i.large', 'm5.large', 'm7i.large'];

describe('launch templates', () => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = inSimulatedTime(await startCloud());
  });
  afterEach(() => cloud.close());

  const capacity = async (instances: number | null, of = types): Promise<void> => {
    for (const type of of) {
      for (const letter of ['a', 'b', 'c']) {
        await cloud.emulator.send({ op: 'capacity', pool: `${type}/us-east-1${letter}/on-demand`, instances });
      }
    }
  };
  const templates = async (): Promise<number> =>
    (await cloud.emulator.resources()).filter(({ kind }) => kind === 'launch template').length;
  const calls = async (action: string): Promise<number> => (await cloud.emulator.counts()).calls[action] ?? 0;
  const request = (owner = freshOwner()) => workersRequest(owner, 2, undefined, placement({ types }));

  it('do not pile up while a cluster waits for capacity, and one is left for each launch that gave something', async () => {
    await capacity(0);
    let most = 0;
    const machines = { waitForCapacityMs: 24 * hourMs };
    const cluster = createEc2Cluster(cloud, {
      instances: 3,
      machines,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
      watch: async () => {
        most = Math.max(most, await templates());
      },
    });
    const bornMs = cluster.nowMs();
    await cluster.runUntil(() => cluster.nowMs() > bornMs + 4 * hourMs);
    const tries = await calls('CreateLaunchTemplate');
    expect(tries).toBeGreaterThan(40);
    expect([most, await templates()]).toEqual([0, 0]);
    await capacity(null);
    await cluster.runUntil(() => cluster.state.instances.length === 3);
    expect(await templates()).toBe(2);
    await cluster.stop();
    expect([await templates(), (await cloud.emulator.ledger()).live]).toEqual([0, []]);
  });

  it('name the image with a GPU driver for types that have GPUs, and stock Ubuntu for all others', async () => {
    const gpuImage = '/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id';
    const provider = createAwsProvider({ ...cloud.options, settings: { ...awsSettings, gpuImage } });
    const owner = freshOwner();
    for (const type of ['m5.large', 'g4dn.xlarge', 'm6i.large']) {
      const wanted = placement({ types: [type], diskGib: 120 });
      await provider.launch(workersRequest(owner, 1, `${owner.cluster} ${type}`, wanted));
    }
    const client = createAwsClients('us-east-1').ec2;
    const { Reservations = [] } = await client.send(new DescribeInstancesCommand({}));
    const instances = Reservations.flatMap(({ Instances = [] }) => Instances);
    const imageOf = (type: string) => instances.find(({ InstanceType }) => InstanceType === type)?.ImageId;
    expect(imageOf('g4dn.xlarge')).toMatch(/^ami-/);
    expect(imageOf('m5.large')).toBe(imageOf('m6i.large'));
    expect(imageOf('g4dn.xlarge')).not.toBe(imageOf('m5.large'));
  });

  it('of a request that AWS refuses are deleted too', async () => {
    const fault = { action: 'CreateFleet', kind: 'error', code: 'VcpuLimitExceeded', status: 400 } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    expect((await cloud.provider.launch(request())).failures).toMatchObject([{ scope: 'quota' }]);
    expect(await templates()).toBe(0);
  });

  it('stay when the outcome of a launch is unknown, so that its repeat finds it', async () => {
    const mine = request();
    await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', kind: 'lost' } });
    await expect(cloud.provider.launch(mine)).rejects.toThrow(/hang up|ECONNRESET/);
    expect(await templates()).toBe(1);
    const { launched } = await cloud.provider.launch(mine);
    expect((await cloud.emulator.ledger()).live.toSorted()).toEqual(launched.map(({ id }) => id).toSorted());
  });

  it.each([
    { by: 'the same process', excludedFirst: false },
    { by: 'a process that knows nothing of the exclusions', excludedFirst: true },
  ])('are made again by a repeat after a crash, by $by, which launches nothing', async ({ excludedFirst }) => {
    if (excludedFirst) {
      await capacity(0, ['m6i.large']);
      await cloud.provider.launch(workersRequest(freshOwner(), 1, undefined, placement({ types: ['m6i.large'] })));
    }
    await capacity(0);
    const mine = request();
    expect((await cloud.provider.launch(mine)).launched).toEqual([]);
    // There is capacity by now; but this launch has been answered, and its cluster may have another pending.
    await capacity(null);
    const again = await (excludedFirst ? createAwsProvider(cloud.options) : cloud.provider).launch(mine);
    expect(again.launched).toEqual([]);
    expect(again.failures.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(again.failures.map(({ scope }) => scope)).not.toContain('request');
    expect([await templates(), (await cloud.emulator.ledger()).live]).toEqual([0, []]);
  });

  it('that cannot be deleted now fail nothing, and go with their cluster', async () => {
    await capacity(0);
    const owner = freshOwner();
    const fault = {
      action: 'DeleteLaunchTemplate',
      kind: 'error',
      code: 'UnauthorizedOperation',
      status: 403,
    } as const;
    await cloud.emulator.send({ op: 'fault', fault });
    expect((await cloud.provider.launch(request(owner))).failures.length).toBeGreaterThan(0);
    expect(await templates()).toBe(1);
    await cloud.provider.terminate(owner, [], AbortSignal.timeout(60_000));
    expect(await templates()).toBe(0);
  });

  it('are not made of an image without a name, and the next try asks again', async () => {
    const clients = createAwsClients('us-east-1');
    let answers = 0;
    // An answer of Systems Manager without a value.
    clients.ssm.middlewareStack.add((next) => async (args) => {
      const result = await next(args);
      answers += 1;
      return answers === 1 ? { ...result, output: { $metadata: {} } } : result;
    });
    const mine = request();
    const arm = placement({ types: ['m7g.large'], architecture: 'arm64' });
    const make = () =>
      ensureTemplate(clients, awsSettings, { request: mine, role: 'worker', placement: arm, exclusions: '' });
    await expect(make()).rejects.toThrow('named no machine image');
    expect(await templates()).toBe(0);
    await make();
    expect([answers, await templates()]).toEqual([2, 1]);
  });
});
