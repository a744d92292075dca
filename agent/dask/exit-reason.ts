// Why a Dask process ended. The exit code is not enough: Dask exits with 0 after an idle timeout, after a stop request, and
// after its worker was killed. The reason comes from its log.

export interface ExitReason {
  /** `ENDED`: the agent ended it. `CLOSED`: Dask closed itself and logged why. `EXITED`, `SIGNAL`, `PRELOAD`: it failed. */
  code: 'ENDED' | 'CLOSED' | 'EXITED' | 'SIGNAL' | 'PRELOAD';
  text: string;
  exitCode: number | null;
  signal: string | null;
  /** The program, its options or its environment are wrong: it would fail in the same way on every instance. */
  isProgramError: boolean;
}

export interface Clues {
  /** Number of registrations of the process's workers with their scheduler. */
  registered: number;
  /** Dask's own reason, such as `idle-timeout-exceeded` or `scheduler-close`. */
  daskReason: string | null;
  lastLine: string | null;
  /** The last printed exception and its cause: Dask's own exception only states that something failed. */
  exception: string | null;
  cause: string | null;
  inTraceback: boolean;
  endedByUs: boolean;
}

export const noClues = (): Clues => ({
  ...{ registered: 0, daskReason: null, lastLine: null, endedByUs: false },
  ...{ exception: null, cause: null, inTraceback: false },
});

/** The exit code with which ropewalk_preload.py ends a scheduler that it cannot watch. */
const preloadFailed = 3;
const maxLineChars = 300;

export function noteLine(clues: Clues, line: string): void {
  if (/distributed\.worker - INFO - +Registered to: /.test(line)) clues.registered += 1;
  const [, reason] = /distributed\.\S+ - INFO - (?:Closing|Stopping) .*Reason: ([\w-]+)/.exec(line) ?? [];
  clues.daskReason = reason ?? clues.daskReason;
  if (line.trim() !== '') clues.lastLine = line.trim().slice(0, maxLineChars);
  noteException(clues, line);
}

/** Python prints an exception's causes before it, each with its own traceback. */
function noteException(clues: Clues, line: string): void {
  if (line.startsWith('Traceback (most recent call last):')) {
    if (clues.exception !== null) clues.cause = null;
    Object.assign(clues, { inTraceback: true, exception: null });
  } else if (line.startsWith('The above exception was the direct cause')) {
    clues.cause ??= clues.exception;
    clues.exception = null;
  } else if (clues.inTraceback && /^[A-Za-z_][\w.]*(:|$)/.test(line)) {
    Object.assign(clues, { inTraceback: false, exception: line.trim().slice(0, maxLineChars) });
  }
}

/** Dask also raises ValueError for a worker whose name is still taken, which is temporary. */
function isProgramError({ exception, cause }: Clues): boolean {
  const first = cause ?? exception ?? '';
  return (
    /^(ModuleNotFound|Import|Attribute|Type|Name|Syntax|Value)Error\b/.test(first) && !/name taken|register/.test(first)
  );
}

/** The end of a sentence: the process's last line, unless it is routine output. */
function lastWords({ lastLine, exception, cause }: Clues): string {
  if (lastLine === null || / - (INFO|DEBUG) - /.test(lastLine)) return '';
  const why = cause !== null && lastLine === exception ? ` The cause: ${cause}` : '';
  return `. The last it said: ${lastLine}${why}`;
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
  const last = lastWords(clues);
  const end = { exitCode, signal, isProgramError: false };
  if (clues.endedByUs) return { ...end, code: 'ENDED', text: 'it was asked to end' };
  if (signal !== null) return { ...end, code: 'SIGNAL', text: `it was ended by ${signal} from outside${last}` };
  if (exitCode === preloadFailed && clues.daskReason === null) {
    return { ...end, code: 'PRELOAD', text: `Ropewalk's preload could not start in it; its log has the cause.` };
  }
  if (exitCode === 0 && clues.daskReason !== null) {
    return { ...end, code: 'CLOSED', text: `Dask closed it: ${clues.daskReason}` };
  }
  return {
    ...end,
    code: 'EXITED',
    isProgramError: isProgramError(clues),
    text: `it ended by itself with exit code ${exitCode}${last}`,
  };
}
