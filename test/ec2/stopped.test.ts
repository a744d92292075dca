// Instances that were stopped from outside, by automation that saves costs, or by EC2 itself when it retires a host. They do
// no more work and their volumes are billed, so each is terminated and replaced. Oracle: the emulated cloud.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { createEc2Cluster } from './cluster.ts';

const shutdownMs = 60_000;

describe('an instance that was stopped from outside', () => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = await startCloud();
  });
  afterEach(() => cloud.close());

  const states = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await cloud.emulator.instances()).map(({ id, state }) => [id, state]));
  const volumes = async (): Promise<number> =>
    (await cloud.emulator.resources()).filter(({ kind }) => kind === 'volume').length;
  /** Both have been stopped: one just now, one long ago. */
  const stopOneByOne = async (first: string, second: string): Promise<void> => {
    await cloud.emulator.send({ op: 'delays', shutdownMs });
    await cloud.emulator.send({ op: 'stop', id: first });
    await cloud.emulator.send({ op: 'advance', ms: shutdownMs });
    await cloud.emulator.send({ op: 'stop', id: second });
    expect(await states()).toEqual({ [first]: 'stopped', [second]: 'stopping' });
    await cloud.emulator.send({ op: 'delays', shutdownMs: 0 });
  };

  it('or is just stopping is listed for a sweep, and a termination ends both with their volumes', async () => {
    const owner = freshOwner();
    const { launched } = await cloud.provider.launch(workersRequest(owner, 2));
    const [first = '', second = ''] = launched.map(({ id }) => id);
    await stopOneByOne(first, second);
    const listed = await cloud.provider.list(owner.deploymentId);
    expect(listed.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
    expect(await volumes()).toBe(2);
    await cloud.provider.terminate(owner, [first, second], AbortSignal.timeout(10_000));
    expect([await states(), await volumes()]).toEqual([{ [first]: 'terminated', [second]: 'terminated' }, 0]);
    expect(await cloud.emulator.resources()).toEqual([]);
  });

  it('is terminated again until EC2 shows it shutting down, and then no more', async () => {
    const owner = freshOwner();
    const { launched } = await cloud.provider.launch(workersRequest(owner, 1));
    const [id = ''] = launched.map((each) => each.id);
    await cloud.emulator.send({ op: 'stop', id });
    await cloud.emulator.send({ op: 'delays', shutdownMs });
    const ended = cloud.provider.terminate(owner, [id], AbortSignal.timeout(20_000));
    const looks = async (): Promise<number> => (await cloud.emulator.counts()).calls['DescribeInstances'] ?? 0;
    await eventually(async () => (await looks()) >= 4);
    await cloud.emulator.send({ op: 'advance', ms: shutdownMs });
    await ended;
    expect((await cloud.emulator.counts()).calls['TerminateInstances']).toBe(1);
  });

  it('is replaced by its cluster, which ends with nothing left', async () => {
    const cluster = createEc2Cluster(cloud, {
      instances: 3,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
    await cluster.runUntil(() => cluster.state.readyAtMs !== null);
    const [, stopped = ''] = cluster.state.instances.map(({ id }) => id);
    await cloud.emulator.send({ op: 'stop', id: stopped });
    cluster.suspect([stopped]);
    await cluster.settle();
    expect((await states())[stopped]).toBe('terminated');
    expect(Object.values(await states()).filter((state) => state === 'running')).toHaveLength(3);
    const [last = ''] = cluster.state.instances.map(({ id }) => id);
    await cloud.emulator.send({ op: 'stop', id: last });
    await cluster.stop();
    expect(new Set(Object.values(await states()))).toEqual(new Set(['terminated']));
    expect(await volumes()).toBe(0);
  });
});
