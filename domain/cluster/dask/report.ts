// Applies agents' reports to a Dask cluster: the states of processes, the scheduler's figures, the outcomes of drains. A job's cluster has none of
// these. Each function changes the state in place and is idempotent.
import type { Reason } from '../../reason.ts';
import { adaptNow } from './adaptive.ts';
import { noteHeadHeard } from './heard.ts';
import { lose } from '../instance/lose.ts';
import { addEvent, touchOrders } from '../notes.ts';
import { giveUpSlot, hasReleasedSlot, moveToSlot } from '../slot/slots.ts';
import { noteProcess, stagesText } from '../instance/stages.ts';
import type { SchedulerReport } from './scheduler-report.ts';
import type { ClusterInstance, ClusterState, DaskState, DrainOutcome } from '../state.ts';
import type { ProcessState } from '../statuses.ts';
import { suspect } from '../instance/suspicion.ts';
import { applyUnanswered } from './unresponsive.ts';
import { noteReady } from '../status.ts';

export interface DaskReport {
  process?: {
    state: ProcessState;
    name: string;
    stage: string;
    address: string | null;
    reason: { code: string; text: string } | null;
  };
  scheduler?: SchedulerReport;
  drained?: { id: number; outcome: DrainOutcome }[];
  /** How long the scheduler has not answered its agent; null when it answers again. */
  unansweredForMs?: number | null;
}

export function applyDaskReport(
  state: ClusterState,
  instance: ClusterInstance,
  report: DaskReport,
  nowMs: number,
): void {
  const { dask } = state;
  if (dask === null) return;
  if (instance.role === 'head' && state.settings.dask !== null) noteHeadHeard(dask, state.settings.dask, nowMs);
  if (report.process !== undefined) applyProcess(state, dask, instance, report.process, nowMs);
  if (report.scheduler !== undefined && instance.role === 'head') applyScheduler(state, dask, report.scheduler, nowMs);
  if (report.unansweredForMs !== undefined && instance.role === 'head') {
    applyUnanswered(state, dask, report.unansweredForMs, nowMs);
  }
  for (const { id, outcome } of report.drained ?? []) if (instance.role === 'head') applyDrained(state, id, outcome);
}

function applyProcess(
  state: ClusterState,
  dask: DaskState,
  instance: ClusterInstance,
  said: NonNullable<DaskReport['process']>,
  nowMs: number,
): void {
  const reason: Reason | null = said.reason === null ? null : { ...said.reason, atMs: nowMs };
  const { agent } = instance;
  if (agent === null) return;
  const before = agent.process?.state;
  // A process never returns to an earlier state: such a report is late or repeated.
  if (before !== undefined && rank[said.state] < rank[before]) return;
  agent.process = { ...said, reason, atMs: nowMs };
  noteProcess(instance, nowMs);
  if (said.state === 'error' || said.state === 'stopped') {
    const why = reason ?? { code: 'PROCESS_EXITED', text: `its Dask process ended (${said.stage})`, atMs: nowMs };
    // The same environment fails on every instance.
    if (why.code === 'ENVIRONMENT_FAILED') giveUpSlot(state, instance.slot, why);
    lose(state, instance, why);
    return;
  }
  if (said.state !== 'started' || before === 'started') return;
  if (instance.role === 'head') {
    dask.schedulerAddress = said.address;
    const text = `the scheduler listens at ${said.address ?? 'an unknown address'}${stagesText([instance])}`;
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

/** A worker that disappeared from the scheduler: its instance is inspected now, before its silence is noticed. */
function suspectVanished(state: ClusterState, dask: DaskState, report: SchedulerReport, nowMs: number): void {
  const now = new Set(report.workers.map((worker) => worker.name));
  const before = dask.report?.workers.map((worker) => worker.name) ?? [];
  const vanished = new Set(before.filter((name) => !now.has(name)));
  for (const instance of state.instances) {
    if (instance.state !== 'ready' || instance.agent.drain !== null) continue;
    if (!vanished.has(instance.agent.process?.name ?? '')) continue;
    if (instance.suspicion === null) suspect(instance, instance.heardAtMs, nowMs);
  }
}

function applyDrained(state: ClusterState, id: number, outcome: DrainOutcome): void {
  const instance = state.instances.find(({ agent }) => agent?.drain?.id === id);
  const agent = instance?.agent ?? null;
  if (instance === undefined || agent?.drain?.outcome !== null) return;
  touchOrders(state);
  if (outcome === 'kept' && agent.drain.adaptive && canStay(state, instance)) {
    // Its data could not move, and no user requested its end, so it stays.
    agent.drain = null;
    if (instance.slot < state.target) return;
    moveToSlot(state, instance, state.target);
    state.target += 1;
    return;
  }
  agent.drain.outcome = outcome;
}

/** True when it is alive, and either wanted again or within the maximum. */
function canStay(state: ClusterState, instance: ClusterInstance): boolean {
  if (instance.state !== 'ready' || hasReleasedSlot(instance)) return false;
  return instance.slot < state.target || state.target - 1 < (state.dask?.adaptive?.maximum ?? Infinity);
}

/** A keepalive: a client exists, but may not be connected. A timeout in it applies from now on. */
export function keepAlive(state: ClusterState, noClientTimeoutMs: number | null, nowMs: number): void {
  const { dask } = state;
  if (dask === null || state.settings.dask === null) return;
  if (noClientTimeoutMs !== null) state.settings.dask.noClientTimeoutMs = noClientTimeoutMs;
  if (dask.noClientSinceMs !== null) dask.noClientSinceMs = nowMs;
}
