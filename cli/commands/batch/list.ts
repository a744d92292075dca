// `ropewalk batch list`: lists the jobs of the workspace, newest first.
import { Command } from 'commander';

import type { Client, Job } from '../../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { filterOf, isFiltered, withFilters, type FilterFlags } from '../../filters.ts';
import { formatJobs, parseSort, sortColumns, sortJobs } from '../../jobs.ts';

export const jobStatuses = ['waiting', 'pending', 'running', 'done', 'error', 'cancelled'] as const;

interface ListFlags extends ConnectionFlags, FormatFlag, FilterFlags {
  sort?: string;
}

export function listCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list')
    .description('List jobs, newest first. Times are local.')
    .option('--sort <column>', `order: ${sortColumns.join(', ')}; -COLUMN for the reverse`, parseSort);
  return withFormat(withConnection(withFilters(command, jobStatuses))).action(async (flags: ListFlags) => {
    await showList(context, await connect(context, flags), flags, { withNames: true });
    finish(exitCodes.ok);
  });
}

export async function showList(
  { output }: CliContext,
  client: Client,
  flags: FormatFlag & FilterFlags & { sort?: string },
  how: { withNames?: boolean } = {},
): Promise<void> {
  const { limit, format, sort } = flags;
  const jobs: Job[] = [];
  const filter = filterOf<Job['status']>(flags);
  for await (const job of client.jobs.list({ ...filter, limit: Math.min(limit, 1_000) })) {
    jobs.push(job);
    if (jobs.length === limit) break;
  }
  const sorted = sort === undefined ? jobs : sortJobs(jobs, sort);
  if (format === 'json') output.json(sorted);
  else if (jobs.length === 0 && isFiltered(flags)) output.err('No job matches.');
  else if (jobs.length === 0)
    output.err('There are no jobs yet. Submit one: ropewalk batch run --ntasks 10 my_script.sh');
  else output.out(formatJobs(sorted, how));
}
