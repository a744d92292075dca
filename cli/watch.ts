// Waits for a job: prints progress on stderr and the outcome on stdout.
import type { Client } from '../sdk/client.ts';
import type { CliContext, FormatFlag } from './context.ts';
import { describeFailures } from './failures.ts';
import { exitCodeOf, formatCauses, formatErrors, formatOutcome, formatProgress } from './jobs.ts';
import { formatBar } from './progress-bar.ts';

/** Resolves with the exit code: 0 when every task is done. */
export async function watchJob(
  client: Client,
  number: number,
  { output }: CliContext,
  { format }: FormatFlag,
  signal: AbortSignal,
): Promise<number> {
  const job = await client.jobs.wait(number, {
    signal,
    onProgress: (view) => output.progress(formatProgress(view), formatBar(view)),
    onUnreachable: (error) => output.progress(`Retrying: ${error.message}`),
  });
  if (format === 'json') output.json(job);
  else output.out(formatOutcome(job));
  for (const line of [...formatErrors(job), ...formatCauses(job), ...(await describeFailures(client, job, signal))])
    output.err(line);
  if (job.status === 'error') output.err(`Its output: ropewalk batch logs ${number}`);
  return exitCodeOf(job);
}

export function detachedFromJob(number: number): string {
  return `Detached: job ${number} continues. To wait for it: ropewalk batch wait ${number}`;
}
