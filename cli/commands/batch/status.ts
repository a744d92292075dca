// `ropewalk batch status [N]`: prints the newest jobs, one job, or the tasks of a job.
import { Command } from 'commander';

import type { Client, Task } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { formatErrors, formatJobs, formatOutcome, formatProgress } from '../../jobs.ts';
import { numberOfJob } from '../../references.ts';
import { formatTable } from '../../table.ts';
import type { Column } from '../../table.ts';
import { formatSpan, formatTime } from '../../times.ts';
import { isFiltered, withFilters, type FilterFlags } from '../../filters.ts';
import { jobStatuses, showList } from './list.ts';

interface StatusFlags extends ConnectionFlags, FormatFlag, FilterFlags {
  tasks?: boolean;
}

export function statusCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('status')
    .description('Show the newest jobs, or one job. Times are local.')
    .argument('[job]', 'number, or name of an open job', parseReference)
    .option('--tasks', "the job's tasks, a row each");
  return withFormat(withConnection(withFilters(command, jobStatuses))).action(
    async (reference: Reference | undefined, flags: StatusFlags) => {
      if (reference === undefined && flags.tasks === true) throw new UsageError('--tasks needs a job');
      if (reference !== undefined && isFiltered(flags))
        throw new UsageError('one job is not filtered: leave the options out');
      const client = await connect(context, flags);
      if (reference === undefined) {
        await showList(context, client, flags);
      } else {
        const show = flags.tasks === true ? showTasks : showJob;
        await show(context, client, await numberOfJob(client, reference), flags);
      }
      finish(exitCodes.ok);
    },
  );
}

async function showJob({ output }: CliContext, client: Client, number: number, { format }: FormatFlag): Promise<void> {
  const job = await client.jobs.get(number);
  if (format === 'json') {
    output.json(job);
    return;
  }
  output.out(formatJobs([job]));
  output.out(job.endedAt === null ? formatProgress(job) : formatOutcome(job));
  for (const line of formatErrors(job)) output.out(line);
}

const columns: Column[] = [
  { title: 'Task', align: 'right' },
  { title: 'State', align: 'center' },
  { title: 'Attempt', align: 'right' },
  { title: 'Exit', align: 'right' },
  { title: 'Started', align: 'right' },
  { title: 'Time', align: 'right' },
  { title: 'Instance', align: 'left' },
  { title: 'Reason', align: 'left' },
];

async function showTasks(context: CliContext, client: Client, number: number, { format }: FormatFlag): Promise<void> {
  const tasks: Task[] = [];
  for await (const task of client.jobs.tasks(number, { limit: 1_000 })) tasks.push(task);
  if (format === 'json') context.output.json(tasks);
  else context.output.out(formatTable(columns, tasks.map(rowOf)));
}

function rowOf(task: Task): string[] {
  const { id, state, attempt, exitCode, signal, startedAt, endedAt, instance, reason } = task;
  const exit = exitCode === null ? (signal ?? '') : String(exitCode);
  const span = formatSpan(startedAt, endedAt);
  const tries = attempt === 0 ? '' : String(attempt);
  return [String(id), state, tries, exit, formatTime(startedAt), span, instance ?? '', reason ?? ''];
}
