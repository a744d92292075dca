// Waiting by looking now and then: often at first, for what is quick, then every two seconds. What took long is noticed a
// tenth of that later at most.
import type { RopewalkApiError } from './errors.ts';
import { isOutage } from './errors.ts';
import { sleep } from './sleep.ts';

export interface PollOptions<View> {
  signal?: AbortSignal;
  /** Called after each look, also when nothing changed. */
  onProgress?: (view: View) => void;
  /** Called when a look failed and will be repeated: what is waited for outlives an outage of its API. */
  onUnreachable?: (error: RopewalkApiError) => void;
  /** Longest pause between two looks, in milliseconds; 2,000 unless given. */
  pollMs?: number;
}

const firstPauseMs = 250;
const shareOfWait = 0.1;

/** Resolves with the first view that `isEnough`, which may also throw. */
export async function poll<View>(
  look: (signal: AbortSignal | undefined) => Promise<View>,
  isEnough: (view: View) => boolean,
  { signal, onProgress, onUnreachable, pollMs = 2_000 }: PollOptions<View>,
): Promise<View> {
  const sinceMs = Date.now();
  // Until the API has answered once, an error is more likely a wrong address than an outage.
  let known = false;
  for (;;) {
    const seen = await look(signal).then(
      (view) => ({ view }),
      (error: unknown) => {
        if (!known || !isOutage(error)) throw error;
        onUnreachable?.(error);
        return null;
      },
    );
    if (seen !== null) {
      known = true;
      onProgress?.(seen.view);
      if (isEnough(seen.view)) return seen.view;
    }
    await sleep(Math.min(pollMs, Math.max(firstPauseMs, (Date.now() - sinceMs) * shareOfWait)), signal);
  }
}
