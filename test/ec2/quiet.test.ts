// An instance of a job that dies when it holds no lease is missed by nobody: EC2 does not say so by itself. Its cluster asks,
// soon after it registered and then ever less often about those that are quiet. Time is simulated.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { applyReport } from '../../domain/cluster/apply.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { startCloud } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { createEc2Cluster } from './cluster.ts';
import type { Ec2Cluster } from './cluster.ts';

const minuteMs = 60_000;

describe('an instance of a job on EC2', () => {
  let cloud: TestCloud;
  beforeEach(async () => {
    cloud = await startCloud();
  });
  afterEach(() => cloud.close());

  const started = async (instances: number): Promise<Ec2Cluster> => {
    const cluster = createEc2Cluster(cloud, {
      instances,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
    await cluster.settle();
    expect(readyIn(cluster.state)).toHaveLength(instances);
    return cluster;
  };
  const describes = async (): Promise<number> => (await cloud.emulator.counts()).calls['DescribeInstances'] ?? 0;

  it('that dies right after it registered, the only one of all, is lost and succeeded within two minutes', async () => {
    const cluster = await started(1);
    const [first = ''] = readyIn(cluster.state);
    await cloud.emulator.tell({ op: 'die', id: first });
    const bornMs = cluster.nowMs();
    await cluster.runUntil(() => !readyIn(cluster.state).includes(first) && readyIn(cluster.state).length === 1);
    expect(cluster.nowMs() - bornMs).toBeLessThan(2 * minuteMs + 30_000);
    expect(cluster.state.events.map(({ code }) => code)).toContain('GONE');
    expect((await cloud.emulator.ledger()).live).toEqual(readyIn(cluster.state));
  });

  it('that dies later is lost within 20 minutes, while the others say that they live: they are asked about once', async () => {
    const cluster = await started(20);
    const [lost = '', ...others] = readyIn(cluster.state);
    await runFor(cluster, 60 * minuteMs, () => [lost, ...others]);
    const before = await describes();
    await runFor(cluster, 6 * 60 * minuteMs, () => [lost, ...others]);
    expect(await describes()).toBe(before);
    await cloud.emulator.tell({ op: 'die', id: lost });
    await runFor(cluster, 20 * minuteMs, () => others);
    expect(readyIn(cluster.state)).not.toContain(lost);
    expect(readyIn(cluster.state)).toEqual(expect.arrayContaining(others));
    expect(cluster.state.instances.find(({ slot }) => slot === 0)?.generation).toBe(2);
  });

  it('that has hung is lost within 65 minutes and succeeded, while the others say that they live', async () => {
    const cluster = await started(4);
    const [hung = ''] = readyIn(cluster.state);
    await runFor(cluster, 65 * minuteMs, () => readyIn(cluster.state).filter((id) => id !== hung));
    expect(cluster.state.events.map(({ code }) => code)).toContain('SILENT');
    expect((await cloud.emulator.ledger()).live.toSorted()).toEqual(readyIn(cluster.state).toSorted());
    expect(readyIn(cluster.state)).not.toContain(hung);
    expect([readyIn(cluster.state).length, cluster.state.launched]).toEqual([4, 5]);
  });

  it('that is quiet though it lives costs four questions an hour, however many they are, and none of so many is lost', async () => {
    const cluster = await started(50);
    await runFor(cluster, 60 * minuteMs, () => []);
    const before = await describes();
    await runFor(cluster, 10 * 60 * minuteMs, () => []);
    const asked = (await describes()) - before;
    expect(asked).toBeGreaterThanOrEqual(20);
    expect(asked).toBeLessThanOrEqual(40);
    expect([readyIn(cluster.state).length, cluster.state.launched]).toEqual([50, 50]);
  });
});

const readyIn = ({ instances }: ClusterState): string[] =>
  instances.flatMap(({ id, state }) => (state === 'ready' ? [id] : []));

/** These agents say every three minutes that they live. */
async function runFor(cluster: Ec2Cluster, ms: number, alive: () => string[]): Promise<void> {
  const untilMs = cluster.nowMs() + ms;
  for (;;) {
    const { wakeAtMs } = await cluster.settle();
    if (cluster.nowMs() >= untilMs) return;
    const stepMs = Math.min(wakeAtMs ?? untilMs, untilMs, cluster.nowMs() + 3 * minuteMs) - cluster.nowMs();
    await cluster.advance(Math.max(1, stepMs));
    for (const instance of alive()) {
      applyReport(
        cluster.state,
        { instance, bootId: `boot of ${instance}`, kind: 'alive', address: '10.0.0.1' },
        cluster.nowMs(),
      );
    }
  }
}
