// Waits for a job to end.
import type { Job } from '../schema/jobs.ts';
import type { PollOptions } from './poll.ts';
import { poll } from './poll.ts';

export type WaitOptions = PollOptions<Job>;

export function waitForJob(
  read: (signal: AbortSignal | undefined) => Promise<Job>,
  options: WaitOptions,
): Promise<Job> {
  return poll(read, ({ status }) => status !== 'waiting' && status !== 'pending' && status !== 'running', options);
}
