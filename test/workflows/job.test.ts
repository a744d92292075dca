// The job workflow in skipped time: leases that end, its writes to the database, and the state it carries into its next run.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { clusterMessages, type ClusterView } from '../../contracts/cluster.ts';
import { type CancelSignal, jobMessages, type JobView } from '../../contracts/job.ts';
import type { TaskResult } from '../../domain/job/protocol.ts';
import { maxLeaseExtensions, taskPageSize } from '../../domain/job/limits.ts';
import { maxEventsOfOldRun, oldRunAfterMs, maxEventsOfRun } from '../../domain/workflow-limits.ts';
import { projectEveryMs } from '../../domain/projection.ts';
import { eventually } from '../support/eventually.ts';
import { type Bed, createBed, launchAll } from '../support/workflow-bed.ts';

// A server of its own for each test: after a job that ends before its cluster, the test server skips no more time.
let bed: Bed;
beforeEach(async () => {
  bed = await createBed();
}, 120_000);
afterEach(() => bed?.stop());

const handleOf = (number: number) => bed.env.client.workflow.getHandle<() => Promise<JobView>>(`job/${number}`);
const view = (number: number): Promise<JobView> => handleOf(number).query<JobView>(jobMessages.view);
const row = (number: number) => bed.store.jobs.find('w', number);
const describeJob = (number: number) => handleOf(number).describe();
const writes = (number: number) => bed.watch.writes.filter((each) => each.kind === 'job' && each.number === number);
const cancel = (number: number): Promise<void> =>
  handleOf(number).signal<[CancelSignal]>(jobMessages.cancel, { code: 'CANCELLED', text: 'enough' });

/** The two instances of its cluster have registered. */
async function started(settings: Parameters<Bed['startJob']>[0] = {}): Promise<number> {
  const number = await bed.startJob(settings);
  for (const instance of ['i_1_0', 'i_1_1']) {
    await eventually(() => bed.report(number, { instance, kind: 'register' }));
  }
  return number;
}

const done = (lease: number, task: number): TaskResult => ({
  ...{ lease, task, attempt: 1, exitCode: 0, signal: null, startedAtMs: 0, endedAtMs: 1, reason: null },
});

const clusterOf = (number: number) => bed.env.client.workflow.getHandle(`cluster/${number}`);
const instancesOf = async (number: number) =>
  (await clusterOf(number).query<ClusterView>(clusterMessages.view)).instances;

const clusterHasEnded = (number: number): Promise<unknown> =>
  eventually(async () => (await bed.store.clusters.find('w', number))?.state === 'ended');

describe('a lease', () => {
  it('that is renewed lives on, and ends when its agent is silent while another one is heard', async () => {
    const leaseMs = 60_000;
    const number = await started({ taskCount: 1, leaseMs });
    const { grants } = await bed.exchange(number, { claim: 1, want: 1 });
    expect(grants).toMatchObject([{ lease: 1, task: 0, attempt: 1 }]);
    for (let half = 0; half < 4; half += 1) {
      await bed.env.sleep(leaseMs / 2);
      await bed.exchange(number, { claim: 1, running: [1] });
    }
    // Silent from now on, and not dead: the cluster finds the instance alive each time. A head is not released while it has nothing to do.
    const other = { instance: 'i_1_1', head: true };
    let claim = 0;
    let again = await bed.exchange(number, { ...other, claim: (claim += 1), want: 1 });
    for (let third = 0; third < 3 * (maxLeaseExtensions + 3) && again.grants.length === 0; third += 1) {
      await bed.env.sleep(leaseMs / 3);
      again = await bed.exchange(number, { ...other, claim: (claim += 1), want: 1 });
    }
    expect(again.grants).toMatchObject([{ lease: 2, task: 0, attempt: 2 }]);
    expect((await bed.exchange(number, { claim: 1, running: [1], results: [done(1, 0)] })).drop).toEqual([1]);
    await bed.exchange(number, { ...other, claim, results: [done(2, 0)] });
    expect(await handleOf(number).result()).toMatchObject({ status: 'done', counters: { lost: 1, stale: 1 } });
    await clusterHasEnded(number);
  });
});

describe('a job', () => {
  it('writes its view at once when its status changes, and every few seconds while tasks end', async () => {
    const taskCount = 40;
    const number = await started({ taskCount, array: `0-${taskCount - 1}` });
    const startedAtMs = await bed.env.currentTimeMs();
    for (let task = 0; task < taskCount - 1; task += 1) {
      await bed.exchange(number, { claim: task + 1, want: 1, results: task === 0 ? [] : [done(task, task - 1)] });
      if (task === 0) await eventually(async () => (await row(number))?.status === 'running');
      await bed.env.sleep('1s');
    }
    const tookMs = (await bed.env.currentTimeMs()) - startedAtMs;
    const running = writes(number).filter(({ status }) => status === 'running');
    expect(running.length).toBeGreaterThanOrEqual(4);
    expect(running.length).toBeLessThanOrEqual(1 + Math.ceil(tookMs / projectEveryMs));
    expect(running.map(({ version }) => version)).toEqual(running.map((_, index) => index + 1));
    const { tasks } = (await row(number))?.view ?? {};
    expect(tasks?.done).toBeGreaterThan(taskCount / 2);

    // Nothing ends any more: the pending changes are written, and then nothing.
    await bed.env.sleep(projectEveryMs + 1_000);
    expect((await row(number))?.view?.tasks).toEqual((await view(number)).tasks);
    const written = writes(number).length;
    await bed.env.sleep('10m');
    expect(writes(number)).toHaveLength(written);
    await cancel(number);
    await handleOf(number).result();
    await clusterHasEnded(number);
  });

  it('that is cancelled while the database is unavailable ends as soon as it is back, and its cluster before', async () => {
    const number = await started();
    await bed.exchange(number, { claim: 1, want: 1 });
    await eventually(async () => (await row(number))?.status === 'running');
    bed.watch.isFailing = true;
    await cancel(number);
    await eventually(async () => {
      await bed.env.sleep('5s');
      return writes(number).filter(({ isFinal }) => isFinal).length >= 3;
    });
    expect((await describeJob(number)).status.name).toBe('RUNNING');
    expect((await view(number)).status).toBe('cancelled');
    expect(bed.kept).toEqual([]);
    bed.watch.isFailing = false;
    expect(await handleOf(number).result()).toMatchObject({ status: 'cancelled' });
    expect(await row(number)).toMatchObject({ state: 'ended', status: 'cancelled' });
    expect([bed.kept, bed.deleted]).toEqual([['vault/bundle'], []]);
    await clusterHasEnded(number);
    expect((await bed.store.workspaces.usage('w')).total.running).toBe(0);
  });

  it('carries the version of its view into the next run', async () => {
    const number = await started({ taskCount: 2, array: '0-1' });
    await bed.exchange(number, { claim: 1, want: 1 });
    await eventually(async () => (await row(number))?.status === 'running');
    const { runId } = await describeJob(number);
    const { viewVersion } = (await row(number)) ?? { viewVersion: 0 };
    expect(viewVersion).toBeGreaterThan(0);
    for (let round = 0; round < maxEventsOfRun / 4 && (await describeJob(number)).runId === runId; round += 10) {
      for (let each = 0; each < 10; each += 1) await bed.exchange(number, { claim: 1, running: [1] });
    }
    expect((await describeJob(number)).runId).not.toBe(runId);
    const { historyLength } = await bed.env.client.workflow.getHandle(`job/${number}`, runId).describe();
    expect(historyLength).toBeGreaterThanOrEqual(maxEventsOfRun);
    expect(historyLength).toBeLessThan(maxEventsOfRun + 50);
    expect(await handleOf(number).query<number>(jobMessages.version)).toBeGreaterThanOrEqual(viewVersion);
    await bed.exchange(number, { claim: 2, want: 1, results: [done(1, 0)] });
    await bed.exchange(number, { claim: 3, results: [done(2, 1)] });
    expect(await handleOf(number).result()).toMatchObject({ status: 'done' });
    const ended = await row(number);
    expect(ended).toMatchObject({ state: 'ended', status: 'done' });
    expect(ended?.viewVersion).toBeGreaterThan(viewVersion);
    await clusterHasEnded(number);
  });

  it('continues as new sooner when its run is old', async () => {
    const number = await started({ taskCount: 2, array: '0-1' });
    const { runId } = await describeJob(number);
    await bed.env.sleep(oldRunAfterMs);
    for (let sent = 0; sent < maxEventsOfOldRun && (await describeJob(number)).runId === runId; sent += 10) {
      for (let each = 0; each < 10; each += 1) await bed.exchange(number, { claim: sent + each + 1 });
    }
    const { historyLength } = await bed.env.client.workflow.getHandle(`job/${number}`, runId).describe();
    expect(historyLength).toBeGreaterThanOrEqual(maxEventsOfOldRun);
    expect(historyLength).toBeLessThan(maxEventsOfOldRun + 50);
    await handleOf(number).signal(jobMessages.cancel, { code: 'CANCELLED', text: 'enough' });
    await clusterHasEnded(number);
  });

  it('goes on while the object store is unavailable: its timeout ends it and its cluster, and its records are kept', async () => {
    const taskCount = taskPageSize + 1;
    const jobTimeoutMs = 4 * 60_000;
    const number = await started({ taskCount, array: `0-${taskCount - 1}`, jobTimeoutMs });
    bed.isArchiveFailing = true;
    let results: TaskResult[] = [];
    for (let claim = 1, left = taskPageSize; left > 0 || results.length > 0; claim += 1) {
      const { grants } = await bed.exchange(number, { claim, want: left, results });
      results = grants.map(({ lease, task }) => done(lease, task));
      left -= grants.length;
    }
    await bed.env.sleep(jobTimeoutMs);
    await clusterHasEnded(number);
    expect([(await describeJob(number)).status.name, bed.pages]).toEqual(['RUNNING', []]);
    bed.isArchiveFailing = false;
    const ended = await handleOf(number).result();
    expect(ended).toMatchObject({ reason: { code: 'JOB_TIMEOUT' }, tasks: { done: taskPageSize }, pagesWritten: 1 });
    expect(bed.pages).toEqual([0]);
  });

  it('has a cluster that continues as new while the outcome of a launch is unknown, and retries it under the same number', async () => {
    const asked: number[] = [];
    bed.launch = ({ seq }) => {
      asked.push(seq);
      throw new Error('no answer');
    };
    const number = await bed.startJob();
    await eventually(() => asked.length > 0);
    const { runId } = await clusterOf(number).describe();
    for (let sent = 0; sent < maxEventsOfRun; sent += 100) {
      const nothing = { instances: [] };
      await Promise.all(
        Array.from({ length: 100 }, () => clusterOf(number).signal(clusterMessages.releaseInstances, nothing)),
      );
    }
    expect((await clusterOf(number).describe()).runId).toBe(runId);
    await bed.env.sleep('20m');
    await eventually(async () => (await clusterOf(number).describe()).runId !== runId);
    bed.launch = launchAll;
    await eventually(async () => {
      await bed.env.sleep('30s');
      return (await instancesOf(number)).length === 2;
    });
    expect(new Set(asked)).toEqual(new Set([1]));
    expect((await instancesOf(number)).map(({ id }) => id)).toEqual(['i_1_0', 'i_1_1']);
    await cancel(number);
    await clusterHasEnded(number);
  });

  it('that has no time left ends all its tasks', async () => {
    const number = await started({ jobTimeoutMs: 90_000 });
    const { grants } = await bed.exchange(number, { claim: 1, want: 1 });
    expect(grants).toHaveLength(1);
    const ended = await handleOf(number).result();
    expect(ended).toMatchObject({ status: 'error', reason: { code: 'JOB_TIMEOUT' }, tasks: { cancelled: 4 } });
    expect((ended.endedAtMs ?? 0) - (ended.startedAtMs ?? 0)).toBeGreaterThanOrEqual(90_000);
    await clusterHasEnded(number);
  });
});
