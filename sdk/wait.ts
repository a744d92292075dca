// Waiting for a job.
import type { Job } from '../schema/jobs.ts';
import type { PollOptions } from './poll.ts';
import { poll } from './poll.ts';

export type WaitOptions = PollOptions<Job>;

export function waitForJob(
  look: (signal: AbortSignal | undefined) => Promise<Job>,
  options: WaitOptions,
): Promise<Job> {
  return poll(look, ({ status }) => status !== 'pending' && status !== 'running', options);
}
