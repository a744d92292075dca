// Waiting for a job in front of someone: progress on stderr, the outcome on stdout.
import type { Client } from '../sdk/client.ts';
import type { CliContext, FormatFlag } from './context.ts';
import { exitCodeOf, formatErrors, formatOutcome, formatProgress } from './jobs.ts';

/** The exit code: 0 when every task was done. */
export async function watchJob(
  client: Client,
  number: number,
  { output }: CliContext,
  { format }: FormatFlag,
  signal: AbortSignal,
): Promise<number> {
  const job = await client.jobs.wait(number, {
    signal,
    onProgress: (view) => output.progress(formatProgress(view)),
    onUnreachable: (error) => output.progress(`Still trying: ${error.message}`),
  });
  if (format === 'json') output.json(job);
  else output.out(formatOutcome(job));
  for (const line of formatErrors(job)) output.err(line);
  if (job.status === 'error') output.err(`Its output: ropewalk batch logs ${number}`);
  return exitCodeOf(job);
}

export function detached(number: number): string {
  return `Detached: job ${number} goes on. Come back with: ropewalk batch wait ${number}`;
}
