// A job that continues as new in the middle, on a real Temporal server: a repeated claim across the seam gets the same grant, a
// repeated result stays a no-op, and every task is recorded once.
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ExchangeAnswer, ExchangeItem, Grant, TaskResult } from '../../domain/job/protocol.ts';
import type { TaskRecord } from '../../domain/job/state.ts';
import { maxEventsOfRun } from '../../domain/workflow-limits.ts';
import { jobMessages, jobType, jobWorkflowId } from '../../contracts/job.ts';
import type { JobInput, JobView } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import type { TestTemporal } from '../support/temporal-server.ts';

const taskCount = 60;

const activities = (archived: TaskRecord[]) => ({
  control: {
    loadJob: async () => ({ settings, bundleRef: 'bundle', createdAtMs: 1 }),
    archiveTaskPage: async ({ records }: { records: TaskRecord[] }) => void archived.push(...records),
    writeView: async () => undefined,
    noteUsage: async () => undefined,
  },
  instances: {
    launchInstances: async () => ({ launched: [], failures: [] }),
    terminateRemains: async () => ({ ids: [], lifetimes: [] }),
  },
});

describe('continue-as-new in the middle of a job', () => {
  let temporal: TestTemporal;
  const archived: TaskRecord[] = [];
  beforeAll(async () => {
    temporal = await sharedTemporal({
      dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 40 },
      ...activities(archived),
    });
  });
  afterAll(() => temporal.stop());

  it('gives a repeated claim the same grant and records each task once', async () => {
    const handle = await temporal.client.workflow.start(jobType, {
      workflowId: jobWorkflowId(1),
      taskQueue: controlQueue,
      args: [input],
    });
    const steady = new Agent(handle, 'i_steady000');
    const asking = new Agent(handle, 'i_asking000');

    // One agent claims and falls silent, while the other works until the job has continued as new.
    const first = await asking.say({ claim: 1, want: 1 });
    expect(first.grants).toHaveLength(1);
    const runBefore = (await handle.describe()).runId;
    await steady.workUntil(async () => (await handle.describe()).runId !== runBefore);
    const again = await asking.say({ claim: 1, want: 1 });
    expect(again.grants).toEqual(first.grants);
    const older = await asking.say({ claim: 0, want: 1 });
    expect(older.grants).toEqual([]);

    // Its result, too, counts once on either side of another seam.
    const results = first.grants.map(resultOf);
    expect((await asking.say({ claim: 1, results })).acknowledged).toEqual(results.map((result) => result.lease));
    const runBetween = (await handle.describe()).runId;
    await steady.workUntil(async () => (await handle.describe()).runId !== runBetween);
    expect((await asking.say({ claim: 1, results })).acknowledged).toEqual(results.map((result) => result.lease));

    await steady.workUntil(async () => steady.stopped);
    const view: JobView = await handle.result();
    expect(view.status).toBe('done');
    expect(view.counters).toMatchObject({ done: taskCount, stale: 0, repeated: 1, lost: 0 });
    expect(archived.map((record) => record.task).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: taskCount }, (_, index) => index),
    );
  });
});

describe('a history that Temporal would let grow', () => {
  let temporal: TestTemporal;
  beforeAll(async () => {
    temporal = await sharedTemporal(activities([]));
  });
  afterAll(() => temporal.stop());

  it('ends while it can be replayed within the time of a workflow task', async () => {
    const handle = await temporal.client.workflow.start(jobType, {
      workflowId: jobWorkflowId(1),
      taskQueue: controlQueue,
      args: [input],
    });
    const first = handle.firstExecutionRunId;
    const agent = new Agent(handle, 'i_asking000');
    // Each update makes at least three events.
    const mostUpdates = maxEventsOfRun / 3 + 50;
    for (let made = 1; made < mostUpdates && (await handle.describe()).runId === first; made += 1) {
      await agent.say({ claim: made, want: 0 });
    }
    const { historyLength } = await temporal.client.workflow.getHandle(handle.workflowId, first).describe();
    expect(historyLength).toBeGreaterThanOrEqual(maxEventsOfRun);
    expect(historyLength).toBeLessThan(maxEventsOfRun + 50);
    await handle.terminate();
  });
});

/** Sends one instance's messages, as the API's flushes do. */
class Agent {
  readonly #handle: WorkflowHandle;
  readonly #instance: string;
  #claim = 0;
  #results: TaskResult[] = [];
  stopped = false;

  constructor(handle: WorkflowHandle, instance: string) {
    this.#handle = handle;
    this.#instance = instance;
  }

  async say(item: Partial<ExchangeItem> & { claim: number }): Promise<ExchangeAnswer> {
    const full: ExchangeItem = { instance: this.#instance, want: 0, running: [], results: [], head: false, ...item };
    const flush: Flush<ExchangeItem> = { items: [full] };
    for (;;) {
      const answer = await this.#update(flush);
      if (answer === null) continue;
      const [first] = answer.items;
      if (first === undefined) throw new Error('no answer');
      if ('ok' in first) return first.ok;
      if (first.error.code !== 'NOT_YET') throw new Error(first.error.message);
    }
  }

  async workUntil(isEnough: () => Promise<boolean>): Promise<void> {
    while (!this.stopped && !(await isEnough())) {
      this.#claim += 1;
      const answer = await this.say({ claim: this.#claim, want: 1, results: this.#results });
      this.#results = answer.grants.map(resultOf);
      this.stopped = answer.stop !== null;
    }
  }

  /** Null when the run closed before the update was applied: the same flush is sent again. */
  async #update(flush: Flush<ExchangeItem>): Promise<FlushAnswer<ExchangeAnswer> | null> {
    try {
      return await this.#handle.executeUpdate<FlushAnswer<ExchangeAnswer>, [Flush<ExchangeItem>]>(
        jobMessages.exchange,
        {
          args: [flush],
        },
      );
    } catch (error) {
      unlessRunClosed(error);
      return null;
    }
  }
}

function unlessRunClosed(error: unknown): void {
  if (!(error instanceof Error && error.message.includes('aborted by closing workflow'))) throw error;
}

function resultOf(grant: Grant): TaskResult {
  const { lease, task, attempt } = grant;
  return { lease, task, attempt, exitCode: 0, signal: null, startedAtMs: 1, endedAtMs: 2, reason: null };
}

const settings = {
  name: 'seam',
  command: 'true',
  taskCount,
  array: `0-${taskCount - 1}`,
  instances: 2,
  leaseMs: 60_000,
  retries: 0,
  jobTimeoutMs: null,
  provider: 'local',
  providerQueue: 'local/test',
  instanceVcpus: 1,
};

const input: JobInput = {
  number: 1,
  workspace: 'default',
  name: 'seam',
  admissionId: 'adm_1',
  specRef: 'specs/default/adm_1.json',
  user: 'tester',
  deploymentId: 'd',
  privateToCreator: false,
};
