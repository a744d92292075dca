// Waiting for a job by looking at it now and then: often at first, for short jobs, then every two seconds.
import type { Job } from '../schema/jobs.ts';
import type { RopewalkApiError } from './errors.ts';
import { isOutage } from './errors.ts';
import { sleep } from './sleep.ts';

export interface WaitOptions {
  signal?: AbortSignal;
  /** Called after each look, also when nothing changed. */
  onProgress?: (job: Job) => void;
  /** Called when a look failed and will be repeated: a job outlives an outage of its API, and so does its waiting. */
  onUnreachable?: (error: RopewalkApiError) => void;
  /** Longest pause between two looks, in milliseconds; 2,000 unless given. */
  pollMs?: number;
}

const firstPauseMs = 250;
const growth = 1.4;

export async function waitForJob(
  look: (signal: AbortSignal | undefined) => Promise<Job>,
  { signal, onProgress, onUnreachable, pollMs = 2_000 }: WaitOptions,
): Promise<Job> {
  let pauseMs = Math.min(firstPauseMs, pollMs);
  // Until the API has answered once, an error is more likely a wrong address than an outage.
  let known = false;
  for (;;) {
    const job = await look(signal).catch((error: unknown) => {
      if (!known || !isOutage(error)) throw error;
      onUnreachable?.(error);
      return null;
    });
    if (job !== null) {
      known = true;
      onProgress?.(job);
      if (job.status !== 'pending' && job.status !== 'running') return job;
    }
    await sleep(pauseMs, signal);
    pauseMs = Math.min(pollMs, pauseMs * growth);
  }
}
