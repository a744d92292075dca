// Ctrl-C: the first stops this command but not the job or cluster; the second exits immediately.
import { exitCodes, Interrupted } from './errors.ts';

/** A terminal's Ctrl-C arrives directly and through bin/ropewalk.mjs: signals this close together count as one. */
const samePressMs = 500;

/** Runs `work`; on Ctrl-C its signal aborts with Interrupted, whose message is `describe()`. */
export async function untilInterrupted<T>(
  describe: () => string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let firstAtMs = 0;
  const onInterrupt = (): void => {
    if (firstAtMs === 0) {
      firstAtMs = Date.now();
      controller.abort(new Interrupted(describe()));
    } else if (Date.now() - firstAtMs > samePressMs) {
      process.exit(exitCodes.interrupted);
    }
  };
  process.on('SIGINT', onInterrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}
