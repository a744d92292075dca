// Polls for a condition: often at first, then at most every two seconds. A slow condition is noticed late by at most a twentieth
// of its duration.
import type { RopewalkApiError } from './errors.ts';
import { isOutage } from './errors.ts';
import { sleep } from './sleep.ts';

export interface PollOptions<View> {
  signal?: AbortSignal;
  /** Called with each view, also when nothing changed. */
  onProgress?: (view: View) => void;
  /** Called when a request failed and will be repeated: jobs and clusters continue during an outage of the API. */
  onUnreachable?: (error: RopewalkApiError) => void;
  /** Longest pause between two requests, in milliseconds; 2,000 by default. */
  pollMs?: number;
}

const firstPauseMs = 100;
const pausePerWaited = 0.05;

/** Resolves with the first view that `isEnough` accepts; errors of `isEnough` are thrown. */
export async function poll<View>(
  read: (signal: AbortSignal | undefined) => Promise<View>,
  isEnough: (view: View) => boolean,
  { signal, onProgress, onUnreachable, pollMs = 2_000 }: PollOptions<View>,
): Promise<View> {
  const sinceMs = Date.now();
  // Until the API has answered once, an error is more likely a wrong address than an outage.
  let known = false;
  for (;;) {
    const found = await read(signal).then(
      (view) => ({ view }),
      (error: unknown) => {
        if (!known || !isOutage(error)) throw error;
        onUnreachable?.(error);
        return null;
      },
    );
    if (found !== null) {
      known = true;
      onProgress?.(found.view);
      if (isEnough(found.view)) return found.view;
    }
    await sleep(Math.min(pollMs, Math.max(firstPauseMs, (Date.now() - sinceMs) * pausePerWaited)), signal);
  }
}
