// An instance of a job that dies when it holds no lease is missed by the API alone: EC2 does not report it by itself. Its cluster
// then queries EC2. Time is simulated, and so is the API, which hears agents and suspects silent ones.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { suspectInstances } from '../../domain/cluster/instance/inspect.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { aliveEveryMs, silentAfterMs } from '../../domain/liveness/limits.ts';
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

  const started = async (instances: number): Promise<{ cluster: Ec2Cluster; api: Api }> => {
    const api: Api = new Map();
    const cluster = createEc2Cluster(cloud, {
      instances,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
      heard: (ids) =>
        ids.flatMap((instance) => {
          const heardAtMs = api.get(instance)?.heardAtMs;
          return heardAtMs === undefined ? [] : [{ instance, heardAtMs, sinceMs: 0 }];
        }),
    });
    await cluster.settle();
    expect(readyIn(cluster.state)).toHaveLength(instances);
    return { cluster, api };
  };
  const describes = async (): Promise<number> => (await cloud.emulator.counts()).calls['DescribeInstances'] ?? 0;

  it('that dies right after it registered, the only one of all, is lost and succeeded within two and a half minutes', async () => {
    const { cluster, api } = await started(1);
    const [first = ''] = readyIn(cluster.state);
    await cloud.emulator.send({ op: 'die', id: first });
    await runFor(cluster, api, 2.5 * minuteMs, (id) => id !== first);
    expect(readyIn(cluster.state)).toHaveLength(1);
    expect(cluster.state.events.map(({ code }) => code)).toContain('GONE');
    expect((await cloud.emulator.ledger()).live).toEqual(readyIn(cluster.state));
  });

  it('that dies later is lost within two and a half minutes, and the others are asked about twice in twelve hours', async () => {
    const { cluster, api } = await started(20);
    const [lost = '', ...others] = readyIn(cluster.state);
    const before = await describes();
    await runFor(cluster, api, 12 * 60 * minuteMs, () => true);
    expect((await describes()) - before).toBeLessThanOrEqual(2);
    await cloud.emulator.send({ op: 'die', id: lost });
    await runFor(cluster, api, 2.5 * minuteMs, (id) => id !== lost);
    expect(readyIn(cluster.state)).not.toContain(lost);
    expect(readyIn(cluster.state)).toEqual(expect.arrayContaining(others));
    expect(cluster.state.instances.find(({ slot }) => slot === 0)?.generation).toBe(2);
  });

  it('that has hung is lost within ten minutes and succeeded, while the others say that they live', async () => {
    const { cluster, api } = await started(4);
    const [hung = ''] = readyIn(cluster.state);
    await runFor(cluster, api, 10 * minuteMs, (id) => id !== hung);
    expect(cluster.state.events.map(({ code }) => code)).toContain('SILENT');
    expect((await cloud.emulator.ledger()).live.toSorted()).toEqual(readyIn(cluster.state).toSorted());
    expect(readyIn(cluster.state)).not.toContain(hung);
    expect([readyIn(cluster.state).length, cluster.state.launched]).toEqual([4, 5]);
  });

  it('that is silent with all the others is not lost: so many at once are more likely our mistake', async () => {
    const { cluster, api } = await started(50);
    const before = await describes();
    await runFor(cluster, api, 60 * minuteMs, () => false);
    expect((await describes()) - before).toBeLessThanOrEqual(60);
    expect([readyIn(cluster.state).length, cluster.state.launched]).toEqual([50, 50]);
    expect(cluster.state.alarm?.code).toBe('MASS_LOSS');
    await runFor(cluster, api, 5 * minuteMs, () => true);
    expect(cluster.state.alarm).toBeNull();
  });
});

/** When the API heard each, and when it suspects it next. */
type Api = Map<string, { heardAtMs: number; dueAtMs: number }>;

const readyIn = ({ instances }: ClusterState): string[] =>
  instances.flatMap(({ id, state }) => (state === 'ready' ? [id] : []));

async function runFor(cluster: Ec2Cluster, api: Api, ms: number, speaks: (id: string) => boolean): Promise<void> {
  const untilMs = cluster.nowMs() + ms;
  for (;;) {
    const { wakeAtMs } = await cluster.settle();
    const nowMs = cluster.nowMs();
    const hear = (id: string): void => void api.set(id, { heardAtMs: nowMs, dueAtMs: nowMs + silentAfterMs });
    for (const id of readyIn(cluster.state)) if (speaks(id) || !api.has(id)) hear(id);
    if (nowMs >= untilMs) return;
    const ready = readyIn(cluster.state);
    const silent = [...api].filter(([id, { dueAtMs }]) => dueAtMs <= nowMs && ready.includes(id));
    for (const [, row] of silent) row.dueAtMs = nowMs + 60 * minuteMs;
    const suspects = silent.map(([instance, { heardAtMs }]) => ({ instance, heardAtMs }));
    if (suspects.length > 0) suspectInstances(cluster.state, suspects, nowMs);
    const stepMs = suspects.length > 0 ? 0 : Math.min(wakeAtMs ?? untilMs, untilMs, nowMs + aliveEveryMs) - nowMs;
    await cluster.advance(Math.max(1, stepMs));
  }
}
