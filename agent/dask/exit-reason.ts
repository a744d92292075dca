// Why a Dask process ended. Its exit code says little: Dask exits with 0 when it was idle, when it was asked to end, and
// when its worker was killed. What it logged says more.

export interface ExitReason {
  /** `ENDED`: we asked. `CLOSED`: Dask ended itself and said why. `EXITED`, `SIGNAL`, `PRELOAD`: it failed. */
  code: 'ENDED' | 'CLOSED' | 'EXITED' | 'SIGNAL' | 'PRELOAD';
  text: string;
  exitCode: number | null;
  signal: string | null;
}

export interface Clues {
  /** How often a worker of the process was registered with its scheduler. */
  registered: number;
  /** Dask's own word, such as `idle-timeout-exceeded` or `scheduler-close`. */
  daskReason: string | null;
  lastLine: string | null;
  endedByUs: boolean;
}

/** The exit code with which ropewalk_preload.py ends a scheduler that it cannot watch. */
const preloadFailed = 3;
const maxLineChars = 300;

export function noteLine(clues: Clues, line: string): void {
  if (/distributed\.worker - INFO - +Registered to: /.test(line)) clues.registered += 1;
  const [, reason] = /distributed\.\S+ - INFO - (?:Closing|Stopping) .*Reason: ([\w-]+)/.exec(line) ?? [];
  clues.daskReason = reason ?? clues.daskReason;
  if (line.trim() !== '') clues.lastLine = line.trim().slice(0, maxLineChars);
}

export function describeEnd({
  exitCode,
  signal,
  clues,
}: {
  exitCode: number | null;
  signal: string | null;
  clues: Clues;
}): ExitReason {
  const last = clues.lastLine === null ? '' : ` The last it said: ${clues.lastLine}`;
  const end = { exitCode, signal };
  if (clues.endedByUs) return { ...end, code: 'ENDED', text: 'it was asked to end' };
  if (signal !== null) return { ...end, code: 'SIGNAL', text: `it was ended by ${signal} from outside.${last}` };
  if (exitCode === preloadFailed && clues.daskReason === null) {
    return { ...end, code: 'PRELOAD', text: `Ropewalk's preload could not start in it; its log has the cause.` };
  }
  if (exitCode === 0 && clues.daskReason !== null) {
    return { ...end, code: 'CLOSED', text: `Dask closed it: ${clues.daskReason}` };
  }
  return { ...end, code: 'EXITED', text: `it ended by itself with exit code ${exitCode}.${last}` };
}
