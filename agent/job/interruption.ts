// The departure of an interrupted instance from a job: it takes no more tasks, the running task may continue until shortly
// before the end, and an unfinished task is then ended and returned to run again elsewhere at once.
import type { Notice } from '../lifecycle/input.ts';

export interface Leave {
  /** Aborts when no more task may start. */
  draining: AbortSignal;
  /** Aborts when the running task must end. */
  late: AbortSignal;
  begin: (notice: Notice) => void;
}

/** Enough to end a command, to report it, and to send the last lines of its output. */
export const leaveBeforeMs = 15_000;
/** The maximum of a timer; no cloud gives notice this early. */
const longestMs = 24 * 3_600_000;

export function createLeave(): Leave {
  const [draining, late] = [new AbortController(), new AbortController()];
  return {
    draining: draining.signal,
    late: late.signal,
    begin: ({ at }) => {
      if (draining.signal.aborted) return;
      draining.abort();
      const leftMs = Math.min(longestMs, Date.parse(at) - leaveBeforeMs - Date.now());
      setTimeout(() => late.abort(), Math.max(0, leftMs)).unref();
    },
  };
}
