// Ctrl-C: the first one leaves what runs elsewhere alone and says how to come back, the second one ends us at once.
import { exitCodes, Interrupted } from './errors.ts';

/** A terminal's Ctrl-C reaches us directly and through bin/ropewalk.mjs: signals this close together are one. */
const samePressMs = 500;

/** Runs `work`; after Ctrl-C its signal aborts with Interrupted, whose message is what `comeBack` says then. */
export async function untilInterrupted<T>(
  comeBack: () => string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let firstAtMs = 0;
  const onInterrupt = (): void => {
    if (firstAtMs === 0) {
      firstAtMs = Date.now();
      controller.abort(new Interrupted(comeBack()));
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
