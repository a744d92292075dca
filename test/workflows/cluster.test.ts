// The cluster workflow in skipped time: its ends, and its writes to the database.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { clusterMessages, type ClusterView, type ScaleSignal } from '../../contracts/cluster.ts';
import type { MachineSettings } from '../../domain/cluster/capacity/machine-settings.ts';
import { maxEventsOfOldRun, oldRunAfterMs } from '../../domain/workflow-limits.ts';
import { eventually } from '../support/eventually.ts';
import { type Bed, createBed, launchAll } from '../support/workflow-bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await createBed();
}, 120_000);
afterAll(() => bed?.stop());

const handleOf = (number: number) => bed.env.client.workflow.getHandle<() => Promise<ClusterView>>(`cluster/${number}`);
const view = (number: number): Promise<ClusterView> => handleOf(number).query<ClusterView>(clusterMessages.view);
const row = (number: number) => bed.store.clusters.find('w', number);
const events = async (number: number): Promise<number> => (await handleOf(number).describe()).historyLength;
const writes = (number: number) => bed.watch.writes.filter((each) => each.kind === 'cluster' && each.number === number);
const used = async () => (await bed.store.workspaces.usage('w')).total;

const scheduler = { state: 'started', name: 'scheduler', stage: 'dask', address: 'tls://s', reason: null } as const;
const idle = {
  tasks: { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 },
  ...{ clients: 1, idleForMs: 0, adaptiveTarget: null, workers: [] },
};

/** Its scheduler runs, and all its instances have registered. */
async function started(instances = 1): Promise<number> {
  const number = await bed.startCluster({ instances });
  await eventually(async () => (await view(number)).instances.length === instances);
  for (const { id } of (await view(number)).instances) await bed.report(number, { instance: id, kind: 'register' });
  await bed.report(number, { process: scheduler });
  return number;
}

const hasStatus = (number: number, status: string): Promise<unknown> =>
  eventually(async () => (await row(number))?.status === status);

describe('a cluster', () => {
  it('ends by its idle timeout, and releases what it held', async () => {
    const number = await started();
    const fromMs = await bed.env.currentTimeMs();
    await bed.report(number, { scheduler: idle });
    const ended = await handleOf(number).result();
    expect(ended).toMatchObject({ status: 'stopped', reason: { code: 'IDLE' } });
    expect((ended.endedAtMs ?? 0) - fromMs).toBeGreaterThanOrEqual(300_000);
    expect(await row(number)).toMatchObject({ state: 'ended', status: 'stopped', view: { reason: { code: 'IDLE' } } });
    expect((await used()).running).toBe(0);
    expect(bed.deleted.splice(0)).toEqual(['bundle', 'ca']);
  });

  it("waits for capacity for as long as the request says, and ends with the cloud's error", async () => {
    const hours = 6;
    bed.launch = ({ slots }) => ({
      launched: [],
      failures: [
        {
          ...{ offer: 'm', zone: 'a', market: 'on-demand', code: 'NoCapacity', scope: 'offer' },
          ...{ text: 'no capacity for m in a', count: slots.length },
        },
      ],
    });
    const number = await bed.startCluster({ machines: { ...machines, waitForCapacityMs: hours * 3_600_000 } });
    const ended = await handleOf(number).result();
    bed.launch = launchAll;
    expect(ended).toMatchObject({
      status: 'error',
      reason: { text: expect.stringContaining('no capacity for m in a') },
    });
    expect((ended.endedAtMs ?? 0) - ended.createdAtMs).toBeGreaterThanOrEqual(hours * 3_600_000);
    // It retried repeatedly, with growing pauses.
    expect(ended.failures.find(({ code }) => code === 'NoCapacity')?.count).toBeGreaterThan(hours * 10);
  });

  it('launches nothing while a budget holds it, and goes on afterwards', async () => {
    const number = await started(1);
    await handleOf(number).signal(clusterMessages.hold, { why: { code: 'BUDGET_EXCEEDED', text: 'used up' } });
    await handleOf(number).signal<[ScaleSignal]>(clusterMessages.scale, { instances: 2, by: 'ada', seq: 1 });
    await eventually(async () => (await view(number)).target === 2);
    expect(await view(number)).toMatchObject({ reason: { code: 'BUDGET_EXCEEDED' }, launched: 1 });
    await handleOf(number).signal(clusterMessages.hold, { why: null });
    await eventually(async () => (await view(number)).launched === 2);
    expect((await view(number)).events.map(({ code }) => code)).toContain('HOLD_ENDED');
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    await handleOf(number).result();
  });

  it('stops in order when its workflow is cancelled in Temporal', async () => {
    const number = await started(2);
    bed.terminated.length = 0;
    await handleOf(number).cancel();
    const ended = await handleOf(number).result();
    expect(ended).toMatchObject({ status: 'stopped', reason: { code: 'CANCELLED' }, instances: [], terminated: 2 });
    expect(bed.terminated.toSorted()).toEqual(['i_1_0', 'i_1_1']);
    expect(await row(number)).toMatchObject({ state: 'ended', status: 'stopped' });
  });

  it('that is idle causes no events, and writes nothing', async () => {
    const number = await started();
    await hasStatus(number, 'ready');
    const { instances } = await handleOf(number).query<ClusterView>(clusterMessages.view);
    const heardAtMs = (await bed.env.currentTimeMs()) + 86_400_000;
    await bed.store.liveness.note(
      instances.map(({ id }) => ({
        ...{ cluster: number, instance: id, heardAtMs, sinceMs: heardAtMs },
        silentAfterMs: null,
      })),
    );
    // Changes of the last seconds are written, and the first liveness check has passed.
    await bed.env.sleep('30m');
    const [before, written] = [await events(number), writes(number).length];
    await bed.env.sleep('2h');
    expect([await events(number), writes(number).length]).toEqual([before, written]);
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    await handleOf(number).result();
  });

  it('lowers its reservation when its instances have ended', async () => {
    const number = await started(2);
    const reserved = await bed.store.quotas.reserve({ number, kind: 'scale', instances: 1 }, Date.now());
    if ('error' in reserved) throw new Error(reserved.error.message);
    const { seq } = reserved.ok;
    const signal: ScaleSignal = { instances: 1, by: 'ada', seq };
    await handleOf(number).signal(clusterMessages.scale, signal);
    await bed.store.quotas.settle({ number, kind: 'scale', seq });
    await eventually(async () => (await used()).instances === 1);
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    await handleOf(number).result();
    expect((await used()).instances).toBe(0);
  });

  it('works on while its cloud refuses to terminate one instance', { timeout: 60_000 }, async () => {
    const number = await bed.startCluster({ instances: 4, dask: null });
    await eventually(async () => (await view(number)).instances.length === 4);
    const firstIds = (await view(number)).instances.map(({ id }) => id);
    for (const instance of firstIds) await bed.report(number, { instance, kind: 'register' });
    const { runId } = await handleOf(number).describe();
    bed.protectedIds.push('i_1_3');
    bed.terminated.length = 0;
    await handleOf(number).signal(clusterMessages.scale, { instances: 3 });
    await bed.env.sleep(oldRunAfterMs + 60_000);
    for (let sent = 0; sent < maxEventsOfOldRun / 2; sent += 1) {
      await handleOf(number).signal(clusterMessages.keepalive, { noClientTimeoutMs: null });
    }
    await bed.report(number, { instance: 'i_1_2', kind: 'leaving', text: 'bye' });
    await handleOf(number).signal(clusterMessages.scale, { instances: 6 });
    await bed.env.sleep('5m');
    const kept = (await view(number)).instances;
    expect((await handleOf(number).describe()).runId).not.toBe(runId);
    expect(kept.find(({ id }) => id === 'i_1_3')).toMatchObject({ state: 'stopping' });
    // Its slot is filled after its end.
    expect(kept.filter(({ state }) => state !== 'stopping')).toHaveLength(5);
    expect(bed.terminated).toEqual(['i_1_2']);
    expect(await row(number)).toMatchObject({ view: { target: 6 } });

    bed.protectedIds.length = 0;
    await bed.env.sleep('2m');
    expect(bed.terminated).toEqual(['i_1_2', 'i_1_3']);
    expect((await view(number)).instances).toHaveLength(6);
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    expect(await handleOf(number).result()).toMatchObject({ instances: [], terminated: 8 });
  });

  it('continues as new while its cloud does not say what became of a launch', { timeout: 60_000 }, async () => {
    const number = await bed.startCluster({ instances: 1, dask: null });
    await eventually(async () => (await view(number)).instances.length === 1);
    await bed.report(number, { instance: 'i_1_0', kind: 'register' });
    const { runId } = await handleOf(number).describe();
    const asked: number[] = [];
    bed.launch = ({ seq }) => {
      asked.push(seq);
      throw new Error('the request timed out');
    };
    await bed.env.sleep(oldRunAfterMs + 60_000);
    await handleOf(number).signal(clusterMessages.scale, { instances: 2 });
    await eventually(() => Promise.resolve(asked.length > 0));
    for (let sent = 0; sent < maxEventsOfOldRun / 2; sent += 1) {
      await handleOf(number).signal(clusterMessages.keepalive, { noClientTimeoutMs: null });
    }
    await bed.env.sleep('2m');
    expect((await handleOf(number).describe()).runId).not.toBe(runId);
    bed.launch = launchAll;
    await bed.env.sleep('2m');
    // The repeated launch has the number of the first one.
    expect(new Set(asked)).toEqual(new Set([2]));
    expect((await view(number)).instances.map(({ id }) => id)).toEqual(['i_1_0', 'i_2_1']);
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    expect(await handleOf(number).result()).toMatchObject({ instances: [], terminated: 2 });
  });

  it('ends while an inspection is not answered', { timeout: 60_000 }, async () => {
    const number = await bed.startCluster({ instances: 2, dask: null });
    await eventually(async () => (await view(number)).instances.length === 2);
    for (const { id } of (await view(number)).instances) await bed.report(number, { instance: id, kind: 'register' });
    bed.isInspectionFailing = true;
    const suspects = [{ instance: 'i_1_1', heardAtMs: 1 }];
    await handleOf(number).signal(clusterMessages.suspect, { instances: suspects });
    await eventually(async () => {
      const { raw } = await handleOf(number).describe();
      return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'inspectInstances');
    });
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    expect(await handleOf(number).result()).toMatchObject({ instances: [], terminated: 2 });
    bed.isInspectionFailing = false;
  });

  it(
    'keeps an instance whose registrations its API hears, however late they reach it',
    { timeout: 60_000 },
    async () => {
      const number = await bed.startCluster({ instances: 1, dask: null });
      await eventually(async () => (await view(number)).instances.length === 1);
      const fromMs = await bed.env.currentTimeMs();
      await bed.store.liveness.noteReplica('r', 86_400_000);
      // The agent tries every minute, and each attempt is lost: the workflow does not answer.
      for (let minute = 0; minute < 12; minute += 1) {
        const heardAtMs = fromMs + minute * 60_000;
        const agent = { cluster: number, instance: 'i_1_0', heardAtMs, sinceMs: heardAtMs, silentAfterMs: null };
        await bed.store.liveness.note([agent]);
        await bed.store.liveness.noteReplica('r', 86_400_000);
        await bed.env.sleep('30s');
      }
      await bed.report(number, { instance: 'i_1_0', kind: 'register' });
      expect(await view(number)).toMatchObject({ launched: 1, instances: [{ id: 'i_1_0', state: 'ready' }] });
      await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
      await handleOf(number).result();
    },
  );

  it('writes its final view once the database takes it, and ends then', async () => {
    const number = await started();
    await hasStatus(number, 'ready');
    bed.watch.isFailing = true;
    await handleOf(number).signal(clusterMessages.stop, { code: 'STOPPED', text: 'enough' });
    const finalWrites = () => writes(number).filter(({ isFinal }) => isFinal).length;
    await eventually(async () => {
      await bed.env.sleep('5s');
      return finalWrites() >= 3;
    });
    expect((await handleOf(number).describe()).status.name).toBe('RUNNING');
    expect(await row(number)).toMatchObject({ state: 'open' });
    bed.watch.isFailing = false;
    await handleOf(number).result();
    expect(await row(number)).toMatchObject({ state: 'ended', status: 'stopped' });
  });
});

const machines: MachineSettings = {
  ...{ workerTypes: ['m'], headTypes: ['m'], architecture: 'x86_64', spotPolicy: 'on-demand', region: 'r' },
  ...{ zones: ['a'], allowCrossZone: false, diskGib: 30 },
};
