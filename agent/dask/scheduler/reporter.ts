// Applies report.ts: reads the scheduler's state when it has changed, and reports in time.
import type { SchedulerState } from './messages.ts';
import type { Reports } from '../../api-client/reports.ts';
import { reportOf, shortened, reportAtMs } from './report.ts';
import type { LastReport } from './report.ts';

export interface SchedulerWatch {
  /** Call after a possible state change. */
  look: () => void;
  close: () => void;
}

export function watchScheduler(state: () => SchedulerState | null, reports: Reports): SchedulerWatch {
  let last: LastReport | null = null;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    clearTimeout(timer);
    const latest = state();
    if (latest === null) return;
    const waitMs = reportAtMs(last, latest) - performance.now();
    if (waitMs <= 0) reports.scheduler((refusals) => shortened(make(latest), refusals));
    else if (waitMs !== Number.POSITIVE_INFINITY) timer = setTimeout(look, waitMs);
  };
  /** Uses the state of the moment of sending. */
  const make = (fallback: SchedulerState): ReturnType<typeof reportOf> => {
    last = { atMs: performance.now(), state: state() ?? fallback };
    return reportOf(last.state, last.atMs);
  };
  return { look, close: () => clearTimeout(timer) };
}
