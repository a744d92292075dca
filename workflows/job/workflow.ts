// The workflow of a batch job. It grants leases to agents, records each task once, and ends with a named outcome. The exchange handler is synchronous
// and does all the work; the loop only waits, archives and signals the cluster.
import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';

import { cancelMarked, markTasks } from '../../domain/job/cancel-tasks.ts';
import { cancelJob, expireLeases, loseInstance, nextWake, nextWakeMs, timeoutAtMs } from '../../domain/job/events.ts';
import { exchange } from '../../domain/job/exchange.ts';
import type { ExchangeAnswer, ExchangeItem } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';
import { releaseSpareInstances, nextShrinkMs } from '../../domain/job/shrink.ts';
import { arrayOf } from '../../domain/job/stored-array.ts';
import { pageDue, shownJob } from '../../domain/job/summary.ts';
import type { Reason } from '../../domain/reason.ts';
import { describeWake, earliest } from '../../domain/wake.ts';
import { onCancelRequest } from '../cancellation.ts';
import { answerEach } from '../flush.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import { shouldContinueAsNew } from '../continuing.ts';
import { createRecordWriter } from '../record-writer.ts';
import {
  finish,
  releaseInstances,
  load,
  startCluster,
  suspect,
  tagStatus,
  tryWritePages,
  writeView,
} from './execute.ts';
import { jobMessages } from '../../contracts/job.ts';
import type {
  CancelSignal,
  CancelTasksSignal,
  InstanceLostSignal,
  JobCarry,
  JobInput,
  AllOpenTasks,
  JobView,
  OpenTasks,
  TasksQueryInput,
} from '../../contracts/job.ts';
import { pendingJob, viewAllTasks, viewJob, viewTasks } from '../../views/job.ts';
import { describeJob } from './describe.ts';

const exchangeUpdate = defineUpdate<FlushAnswer<ExchangeAnswer>, [Flush<ExchangeItem>]>(jobMessages.exchange);
const cancelSignal = defineSignal<[CancelSignal]>(jobMessages.cancel);
const cancelTasksSignal = defineSignal<[CancelTasksSignal]>(jobMessages.cancelTasks);
const instanceLostSignal = defineSignal<[InstanceLostSignal]>(jobMessages.instanceLost);
const viewQuery = defineQuery<JobView>(jobMessages.view);
const versionQuery = defineQuery<number>(jobMessages.version);
const tasksQuery = defineQuery<OpenTasks | null, [TasksQueryInput]>(jobMessages.tasks);
const taskStatesQuery = defineQuery<AllOpenTasks | null>(jobMessages.taskStates);

export async function job(input: JobInput): Promise<JobView> {
  const startedAtMs = Date.now();
  let carry: JobCarry | null = input.carry ?? null;
  let cancelled: Reason | null = null;
  const view = (): JobView => (carry === null ? pendingJob(input, startedAtMs) : viewJob(carry.state, input));

  setHandler(exchangeUpdate, (flush) => answerFlush(carry?.state ?? null, flush));
  const cancel = (why: CancelSignal): void => {
    cancelled ??= { ...why, atMs: Date.now() };
    if (carry !== null) cancelJob(carry.state, cancelled);
  };
  setHandler(cancelSignal, cancel);
  /** Requests that arrived before the specification was read. */
  const early: { signal: CancelTasksSignal; atMs: number }[] = [];
  setHandler(cancelTasksSignal, (signal) => {
    if (carry === null) early.push({ signal, atMs: Date.now() });
    else cancelSome(carry.state, signal, Date.now());
  });
  setHandler(instanceLostSignal, ({ instances }) => {
    for (const { instance, text, isOrderly } of instances) {
      if (carry !== null) loseInstance(carry.state, { id: instance, why: text, isOrderly }, Date.now());
    }
  });
  setHandler(viewQuery, view);
  setHandler(versionQuery, () => carry?.state.projection.version ?? 0);
  setHandler(tasksQuery, ({ indices }) => (carry === null ? null : viewTasks(carry.state, indices)));
  setHandler(taskStatesQuery, () => (carry === null ? null : viewAllTasks(carry.state)));

  const onRequest = (): void => cancel({ code: 'CANCELLED', text: 'its workflow was cancelled in Temporal' });
  return onCancelRequest(onRequest, async () => {
    if (carry === null) {
      carry = { ...(await load(input)), clusterStarted: false };
      for (const { signal, atMs } of early) cancelSome(carry.state, signal, atMs);
      if (cancelled !== null) cancelJob(carry.state, cancelled);
    }
    return work(carry, input);
  });
}

async function work(carry: JobCarry, input: JobInput): Promise<JobView> {
  const { state } = carry;
  const view = (): JobView => viewJob(state, input);
  if (!carry.clusterStarted && state.outcome === null) {
    await startCluster(state, input);
    carry.clusterStarted = true;
  }
  if ((await run(state, view)) === 'continue as new') await continueAsNew<typeof job>({ ...input, carry });
  await finish(carry, view);
  return view();
}

/** Runs until the job has its outcome, or until the history is long enough to continue as new. */
async function run(state: JobState, view: () => JobView): Promise<'ended' | 'continue as new'> {
  const writer = createRecordWriter({
    projection: state.projection,
    shown: () => shownJob(state),
    writeView: (version) => writeView(view(), version),
    onEnd: () => undefined,
  });
  // Set while the object store is unavailable.
  let pageRetryAtMs: number | null = null;
  for (;;) {
    const nowMs = Date.now();
    const timeout = timeoutAtMs(state);
    if (timeout !== null && nowMs >= timeout)
      cancelJob(state, { code: 'JOB_TIMEOUT', text: timeoutText(state), atMs: nowMs });
    const suspects = expireLeases(state, nowMs);
    if (suspects.length > 0) await suspect(state.number, suspects);
    const spare = releaseSpareInstances(state, nowMs);
    if (spare.length > 0) await releaseInstances(state.number, spare);
    if (pageDue(state) !== null && (pageRetryAtMs ?? 0) <= nowMs)
      pageRetryAtMs = (await tryWritePages(state)) ? null : Date.now() + pageRetryMs;
    setCurrentDetails(describeJob(state));
    tagStatus(state);
    const isLeaving = (): boolean => state.outcome !== null || shouldContinueAsNew();
    if (isLeaving()) await condition(() => !writer.isBusy());
    if (state.outcome !== null) return 'ended';
    if (shouldContinueAsNew()) return 'continue as new';
    writer.beginIfDue(nowMs);
    const pageRetry = pageRetryAtMs === null ? null : { atMs: pageRetryAtMs, what: 'next try to write a task page at' };
    const wake = earliest([nextWake(state), writer.nextWrite(), pageRetry]);
    const isSooner = (atMs: number | null | undefined): boolean =>
      atMs !== null && atMs !== undefined && (wake === null || atMs < wake.atMs);
    const isWakeSooner = (): boolean =>
      isSooner(nextWakeMs(state)) || isSooner(nextShrinkMs(state)) || isSooner(writer.nextWrite()?.atMs);
    const isPageDue = (): boolean => pageRetry === null && pageDue(state) !== null;
    const changed = (): boolean => isLeaving() || isPageDue() || isWakeSooner();
    if (wake === null) await condition(changed);
    else await condition(changed, Math.max(wake.atMs - nowMs, 1), { summary: describeWake(wake, nowMs) });
  }
}

function cancelSome(state: JobState, { tasks, text }: CancelTasksSignal, atMs: number): void {
  const wanted = markTasks(tasks, arrayOf(state.settings));
  cancelMarked(state, wanted, { code: 'CANCELLED', text, atMs });
}

/** Costs as many events as a renewal. The records wait in the state meanwhile. */
const pageRetryMs = 30_000;

function answerFlush(state: JobState | null, flush: Flush<ExchangeItem>): FlushAnswer<ExchangeAnswer> {
  if (state === null) {
    return answerEach(flush, () => ({
      error: { code: 'NOT_YET', message: 'The job is still reading its specification.' },
    }));
  }
  const array = arrayOf(state.settings);
  const nowMs = Date.now();
  const answer = answerEach<ExchangeItem, ExchangeAnswer>(flush, (item) => ({
    ok: exchange(state, item, nowMs, (index) => array.idAt(index)),
  }));
  setCurrentDetails(describeJob(state));
  return answer;
}

function timeoutText(state: JobState): string {
  return `the job ran longer than its limit of ${(state.settings.jobTimeoutMs ?? 0) / 1000} s`;
}
