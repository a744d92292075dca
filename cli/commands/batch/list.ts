// `ropewalk batch list`: lists the jobs of the workspace, newest first.
import { Command } from 'commander';

import type { Client, Job } from '../../../sdk/client.ts';
import { parseLimit } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { formatJobs } from '../../jobs.ts';

interface ListFlags extends ConnectionFlags, FormatFlag {
  limit: number;
}

export function listCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list')
    .description('List jobs, newest first. Times are local.')
    .option('--limit <n>', 'how many', parseLimit, 10);
  return withFormat(withConnection(command)).action(async (flags: ListFlags) => {
    await showList(context, await connect(context, flags), flags.limit, flags);
    finish(exitCodes.ok);
  });
}

export async function showList(
  { output }: CliContext,
  client: Client,
  limit: number,
  { format }: FormatFlag,
): Promise<void> {
  const jobs: Job[] = [];
  for await (const job of client.jobs.list({ limit: Math.min(limit, 1_000) })) {
    jobs.push(job);
    if (jobs.length === limit) break;
  }
  if (format === 'json') output.json(jobs);
  else if (jobs.length === 0)
    output.err('There are no jobs yet. Submit one: ropewalk batch run --ntasks 10 my_script.sh');
  else output.out(formatJobs(jobs));
}
