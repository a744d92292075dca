// Decides when a scheduler's state is reported to the control plane, and its content. Pure. Each report adds a few events to
// the history of the cluster's workflow, so only changes are reported: those that the cluster acts on soon, mere counts rarely.
import type { SchedulerState } from './messages.ts';
import type { SchedulerReport } from '../../api-client/reports.ts';

/** The last report's time and state. */
export interface LastReport {
  atMs: number;
  state: SchedulerState;
}

/** Maximum delay for changes that affect a cluster's idle timeout, its clients and its adaptive scaling. */
const urgentAfterMs = 1_000;
/**
 * Short tasks make a scheduler idle many times a minute. The delay loses nothing, because a report contains the start of the
 * idleness.
 */
const idleAfterMs = 5_000;
/** A cluster acts on requests for fewer workers only after a minute. */
const fewerAfterMs = 10_000;
const countsAfterMs = 30_000;
/** The limit in schema/agent.ts. */
const maxWorkers = 2_000;
/** The control plane accepts 256 KiB for a whole report. */
const maxWorkersBytes = 192 * 1024;

/** When the state should be reported; Infinity when the last report still matches. */
export function reportAtMs(last: LastReport | null, state: SchedulerState): number {
  if (last === null) return 0;
  const before = last.state;
  const becameBusy = state.idleSinceMs === null && before.idleSinceMs !== null;
  const isUrgent =
    becameBusy ||
    state.clients !== before.clients ||
    state.adaptiveTarget > before.adaptiveTarget ||
    membersOf(state) !== membersOf(before);
  if (isUrgent) return last.atMs + urgentAfterMs;
  if (state.idleSinceMs !== null && state.idleSinceMs !== before.idleSinceMs) return last.atMs + idleAfterMs;
  if (state.adaptiveTarget < before.adaptiveTarget) return last.atMs + fewerAfterMs;
  if (countsOf(state) !== countsOf(before)) return last.atMs + countsAfterMs;
  return Number.POSITIVE_INFINITY;
}

/** Uses durations instead of times, because the control plane's clock differs. */
export function reportOf(state: SchedulerState, nowMs: number): SchedulerReport {
  const { processing, waiting, queued, memory, erred, no_worker: noWorker } = state.tasks;
  return {
    // Dask's "queued" tasks are ready tasks that it holds back; users see them as waiting.
    tasks: { processing, waiting: waiting + queued, memory, erred, noWorker },
    clients: state.clients,
    idleForMs: state.idleSinceMs === null ? null : Math.max(0, Math.round(nowMs - state.idleSinceMs)),
    adaptiveTarget: state.adaptiveTarget,
    ...(state.usage === undefined || Object.keys(state.usage).length === 0 ? {} : { usage: state.usage }),
    workers: thatFit(
      state.workers
        .map((worker) => ({ name: worker.name, status: worker.status.slice(0, 50), processing: worker.processing }))
        // A manually started worker may have any name; ours fit.
        .filter(({ name }) => name !== '' && name.length <= 255),
      maxWorkersBytes,
    ),
  };
}

/** Halves the workers' bytes for each refusal. */
export const shortened = (report: SchedulerReport, refusals: number): SchedulerReport => ({
  ...report,
  workers:
    refusals === 0
      ? report.workers
      : thatFit(report.workers, Buffer.byteLength(JSON.stringify(report.workers)) / 2 ** refusals),
});

/** Omits the workers with the longest names when there are too many: ours are short, and the same ones stay each time. */
function thatFit(workers: SchedulerReport['workers'], maxBytes: number): SchedulerReport['workers'] {
  const bytes = workers.map((worker) => Buffer.byteLength(JSON.stringify(worker)) + 1);
  if (workers.length <= maxWorkers && bytes.reduce((sum, each) => sum + each, 0) <= maxBytes) return workers;
  let left = maxBytes;
  return workers
    .toSorted((a, b) => a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, maxWorkers)
    .filter((worker) => (left -= Buffer.byteLength(JSON.stringify(worker)) + 1) >= 0);
}

const membersOf = ({ workers }: SchedulerState): string =>
  workers
    .map(({ name, status }) => `${status} ${name}`)
    .toSorted()
    .join('\n');

/** Excludes memory, which always changes, so that an idle cluster reports nothing. */
const countsOf = ({ tasks, workers, usage }: SchedulerState): string =>
  JSON.stringify([
    usage?.groups,
    usage?.exceptions,
    Object.values(tasks),
    workers.map(({ name, processing }) => `${processing} ${name}`).toSorted(),
  ]);
