// What a Dask cluster learns from its agents: how processes fare, what the scheduler says, which drains are over. A job's
// cluster has none of this. Each function changes the state in place and may be given the same news twice.
import { fewerAfterMs } from '../../limits.ts';
import type { Reason } from '../../reason.ts';
import { noteHeadHeard } from './heard.ts';
import { lose } from '../instance/lose.ts';
import { addEvent, touchOrders } from '../notes.ts';
import { isOvertaken, resizeCluster, type Asked } from '../requests.ts';
import { isVacating, moveToSlot, slotHistory } from '../slot/slots.ts';
import { noteProcess, stagesText } from '../instance/stages.ts';
import type {
  ClusterInstance,
  ClusterState,
  DaskState,
  DrainOutcome,
  ProcessState,
  SchedulerReport,
} from '../state.ts';
import { suspect } from '../instance/suspicion.ts';
import { applyUnanswered } from './unresponsive.ts';
import { noteReady } from '../view.ts';

export interface DaskNews {
  process?: {
    state: ProcessState;
    name: string;
    stage: string;
    address: string | null;
    reason: { code: string; text: string } | null;
  };
  scheduler?: SchedulerReport;
  drained?: { id: number; outcome: DrainOutcome }[];
  /** How long the scheduler has not answered its agent, or null when it does again. */
  unansweredForMs?: number | null;
}

export function applyDaskNews(state: ClusterState, instance: ClusterInstance, news: DaskNews, nowMs: number): void {
  const { dask } = state;
  if (dask === null) return;
  if (instance.role === 'head' && state.settings.dask !== null) noteHeadHeard(dask, state.settings.dask, nowMs);
  if (news.process !== undefined) applyProcess(state, dask, instance, news.process, nowMs);
  if (news.scheduler !== undefined && instance.role === 'head') applyScheduler(state, dask, news.scheduler, nowMs);
  if (news.unansweredForMs !== undefined && instance.role === 'head') {
    applyUnanswered(state, dask, news.unansweredForMs, nowMs);
  }
  for (const { id, outcome } of news.drained ?? []) if (instance.role === 'head') applyDrained(state, id, outcome);
}

function applyProcess(
  state: ClusterState,
  dask: DaskState,
  instance: ClusterInstance,
  news: NonNullable<DaskNews['process']>,
  nowMs: number,
): void {
  const reason: Reason | null = news.reason === null ? null : { ...news.reason, atMs: nowMs };
  const before = instance.process?.state;
  // A process only goes forward: what would take it back is old news that comes late, or again.
  if (before !== undefined && rank[news.state] < rank[before]) return;
  instance.process = { ...news, reason, atMs: nowMs };
  noteProcess(instance, nowMs);
  if (news.state === 'error' || news.state === 'stopped') {
    const why = reason ?? { code: 'PROCESS_EXITED', text: `its Dask process ended (${news.stage})`, atMs: nowMs };
    // The same environment fails in the same way on every instance.
    if (why.code === 'ENVIRONMENT_FAILED') slotHistory(state, instance.slot).givenUp = why;
    lose(state, instance, why);
    return;
  }
  if (news.state !== 'started' || before === 'started') return;
  if (instance.role === 'head') {
    dask.schedulerAddress = news.address;
    const text = `the scheduler listens at ${news.address ?? 'an unknown address'}${stagesText([instance])}`;
    addEvent(state, nowMs, 'SCHEDULER_STARTED', text);
    touchOrders(state);
  }
  noteReady(state, nowMs);
}

const rank: Record<ProcessState, number> = { pending: 0, starting: 1, started: 2, stopping: 3, stopped: 4, error: 4 };

function applyScheduler(state: ClusterState, dask: DaskState, report: SchedulerReport, nowMs: number): void {
  suspectVanished(state, dask, report, nowMs);
  dask.report = report;
  dask.reportedAtMs = nowMs;
  dask.idleSinceMs = report.idleForMs === null ? null : nowMs - report.idleForMs;
  dask.noClientSinceMs = report.clients > 0 ? null : (dask.noClientSinceMs ?? nowMs);
  adaptNow(state, dask, nowMs);
}

/** A worker that the scheduler knew and knows no more: its instance is looked at now, not when its silence is noticed. */
function suspectVanished(state: ClusterState, dask: DaskState, report: SchedulerReport, nowMs: number): void {
  const now = new Set(report.workers.map((worker) => worker.name));
  const before = dask.report?.workers.map((worker) => worker.name) ?? [];
  const vanished = new Set(before.filter((name) => !now.has(name)));
  for (const instance of state.instances) {
    if (instance.state !== 'ready' || instance.drain !== null || !vanished.has(instance.process?.name ?? '')) continue;
    if (instance.suspicion === null) suspect(instance, instance.heardAtMs, nowMs);
  }
}

function applyDrained(state: ClusterState, id: number, outcome: DrainOutcome): void {
  const instance = state.instances.find((each) => each.drain?.id === id);
  if (instance?.drain === undefined || instance.drain === null || instance.drain.outcome !== null) return;
  touchOrders(state);
  if (outcome === 'kept' && instance.drain.adaptive && canStay(state, instance)) {
    // Its data could not move, and nobody insisted: it stays.
    instance.drain = null;
    if (instance.slot < state.target) return;
    moveToSlot(state, instance, state.target);
    state.target += 1;
    return;
  }
  instance.drain.outcome = outcome;
}

/** It is alive, and wanted again meanwhile or at least allowed. */
function canStay(state: ClusterState, instance: ClusterInstance): boolean {
  if (instance.state !== 'ready' || isVacating(instance)) return false;
  return instance.slot < state.target || state.target - 1 < (state.dask?.adaptive?.maximum ?? Infinity);
}

/** Somebody is there, though perhaps not connected. A timeout given here holds from now on. */
export function keepAlive(state: ClusterState, noClientTimeoutMs: number | null, nowMs: number): void {
  const { dask } = state;
  if (dask === null || state.settings.dask === null) return;
  if (noClientTimeoutMs !== null) state.settings.dask.noClientTimeoutMs = noClientTimeoutMs;
  if (dask.noClientSinceMs !== null) dask.noClientSinceMs = nowMs;
}

/** Turns adaptive scaling on, between these counts of workers, or off. */
export function adaptCluster(
  state: ClusterState,
  adaptive: DaskState['adaptive'],
  nowMs: number,
  asked: Asked = {},
): void {
  if (isOvertaken(state, 'adapt', asked)) return;
  if (state.dask === null || state.stopRequested !== null) return;
  // After a scale request adaptive scaling is off already: this only releases its reservation.
  if (adaptive === null && state.dask.adaptive === null) return;
  state.dask.adaptive = adaptive;
  state.dask.fewer = null;
  const text =
    adaptive === null ? 'adaptive scaling is off' : `between ${adaptive.minimum} and ${adaptive.maximum} workers`;
  addEvent(state, nowMs, 'ADAPT', text, asked.by);
  adaptNow(state, state.dask, nowMs);
}

/** Follows Dask's wish at once when it wants more, and the most it wanted in a minute when it wants fewer. */
export function adaptNow(state: ClusterState, dask: DaskState, nowMs: number): void {
  if (dask.adaptive === null) return;
  const { minimum, maximum } = dask.adaptive;
  const current = state.target - 1;
  const wish = Math.min(maximum, Math.max(minimum, dask.report?.adaptiveTarget ?? current));
  if (wish >= current) {
    dask.fewer = null;
    if (wish > current) resizeCluster(state, wish + 1, nowMs);
    return;
  }
  dask.fewer ??= { sinceMs: nowMs, most: wish };
  dask.fewer.most = Math.max(dask.fewer.most, wish);
  if (nowMs < dask.fewer.sinceMs + fewerAfterMs) return;
  const { most } = dask.fewer;
  dask.fewer = null;
  resizeCluster(state, most + 1, nowMs);
}
