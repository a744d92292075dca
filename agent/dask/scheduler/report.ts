// What of a scheduler's state is reported to the control plane, and when. Pure. Each report costs the cluster's workflow a few
// events of its history, so changes are reported and not samples: what the cluster's rules act on soon, mere counts rarely.
import type { SchedulerState } from './messages.ts';
import type { SchedulerReport } from '../../api-client/reports.ts';

/** The last report: what it said, and when. */
export interface LastReport {
  atMs: number;
  state: SchedulerState;
}

/** A cluster's clocks of idleness and of clients, and its adaptive scaling, follow within this. */
const urgentAfterMs = 1_000;
/** Short tasks make a scheduler idle many times a minute. Nothing is lost: a report also says since when it is idle. */
const idleAfterMs = 5_000;
/** Requests for fewer workers are followed only after a minute. */
const fewerAfterMs = 10_000;
const countsAfterMs = 30_000;
/** As schema/agent.ts has it. */
const maxWorkers = 2_000;
/** The control plane takes 256 KiB with all that belongs to a report. */
const maxWorkersBytes = 192 * 1024;

/** When the state should be reported; Infinity when the last report says all that matters. */
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

/** Durations, not times: this machine's clock is not the control plane's. */
export function reportOf(state: SchedulerState, nowMs: number): SchedulerReport {
  const { processing, waiting, queued, memory, erred, no_worker: noWorker } = state.tasks;
  return {
    // Queued is Dask's word for ready tasks that it keeps back; for people they wait.
    tasks: { processing, waiting: waiting + queued, memory, erred, noWorker },
    clients: state.clients,
    idleForMs: state.idleSinceMs === null ? null : Math.max(0, Math.round(nowMs - state.idleSinceMs)),
    adaptiveTarget: state.adaptiveTarget,
    ...(state.usage === undefined || Object.keys(state.usage).length === 0 ? {} : { usage: state.usage }),
    workers: thatFit(
      state.workers
        .map((worker) => ({ name: worker.name, status: worker.status.slice(0, 50), processing: worker.processing }))
        // A worker that was started by hand may have any name; ours fit.
        .filter(({ name }) => name !== '' && name.length <= 255),
      maxWorkersBytes,
    ),
  };
}

/** The workers in half of their bytes for each refusal. */
export const shortened = (report: SchedulerReport, refusals: number): SchedulerReport => ({
  ...report,
  workers:
    refusals === 0
      ? report.workers
      : thatFit(report.workers, Buffer.byteLength(JSON.stringify(report.workers)) / 2 ** refusals),
});

/** When there are too many, those with the longest names go stillPending: ours are short, and the same stay each time. */
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

/** Not the memory, which always changes: an idle cluster reports nothing. */
const countsOf = ({ tasks, workers, usage }: SchedulerState): string =>
  JSON.stringify([
    usage?.groups,
    usage?.exceptions,
    Object.values(tasks),
    workers.map(({ name, processing }) => `${processing} ${name}`).toSorted(),
  ]);
