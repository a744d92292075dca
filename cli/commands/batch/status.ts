// `ropewalk batch status [N]`: prints the newest jobs, one job, or the tasks of a job.
import { Command, Option } from 'commander';

import type { Client, Task } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { formatTaskCost } from '../../dollars.ts';
import { describeFailures } from '../../failures.ts';
import { formatCauses, formatErrors, formatJobs, formatOutcome, formatProgress, sortColumns } from '../../jobs.ts';
import { formatBar } from '../../progress-bar.ts';
import { numberOfJob } from '../../references.ts';
import { parseSortOf, sortBy, type SortKeys } from '../../sorting.ts';
import { formatTable } from '../../table.ts';
import type { Column } from '../../table.ts';
import { formatSpan, formatTime } from '../../times.ts';
import { isFiltered, withFilters, type FilterFlags } from '../../filters.ts';
import { jobStatuses, showList } from './list.ts';

/** `rows`: --limit, where it was given. */
type TaskFlags = Pick<StatusFlags, 'format' | 'state' | 'sort'> & { rows: number | undefined };

interface StatusFlags extends ConnectionFlags, FormatFlag, FilterFlags {
  tasks?: boolean;
  state?: Task['state'];
  sort?: string;
}

export function statusCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('status')
    .description('Show the newest jobs, or one job. Times are local.')
    .argument('[job]', 'number or name', parseReference)
    .option('--tasks', "the job's tasks, a row each: the first 1,000, or --limit")
    .option('--sort <column>', sortHelp, (text: string) => parseSortOf(text, [...sortColumns, ...taskColumns]))
    .addOption(new Option('--state <state>', "the job's tasks in this state").choices(taskStates));
  return withFormat(withConnection(withFilters(command, jobStatuses))).action(
    async (reference: Reference | undefined, given: StatusFlags) => {
      // The default of --limit applies to lists of jobs only.
      const rows = command.getOptionValueSource('limit') === 'cli' ? given.limit : undefined;
      const flags = { ...given, rows };
      const wantsTasks = flags.tasks === true || flags.state !== undefined;
      if (reference === undefined && wantsTasks) throw new UsageError('--tasks and --state need a job');
      const isSorted = flags.sort !== undefined;
      checkSort(flags.sort, reference === undefined ? sortColumns : taskColumns);
      if (reference !== undefined && isFiltered(flags))
        throw new UsageError('one job is not filtered: leave the options out');
      const client = await connect(context, flags);
      if (reference === undefined) {
        await showList(context, client, flags);
      } else {
        // Only tasks have an order.
        const show = wantsTasks || isSorted ? showTasks : showJob;
        await show(context, client, await numberOfJob(client, reference), flags);
      }
      finish(exitCodes.ok);
    },
  );
}

const taskKeys: SortKeys<Task> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  attempt: ({ attempt }) => attempt,
  exit: ({ exitCode }) => exitCode ?? 256,
  started: ({ startedAt }) => startedAt ?? '9999',
  ended: ({ endedAt }) => endedAt ?? '9999',
};
const taskColumns = Object.keys(taskKeys);
const sortHelp = `order of the jobs: ${sortColumns.join(', ')}; of the tasks of a job: ${taskColumns.join(', ')}; -COLUMN for the reverse`;

function checkSort(sort: string | undefined, columns: readonly string[]): void {
  const unknown = sort?.split(',').find((name) => !columns.includes(name.replace(/^-/, '')));
  if (unknown !== undefined) throw new UsageError(`--sort ${unknown}: here there are ${columns.join(', ')}`);
}

async function showJob({ output }: CliContext, client: Client, number: number, { format }: FormatFlag): Promise<void> {
  const job = await client.jobs.get(number);
  if (format === 'json') {
    output.json(job);
    return;
  }
  output.out(formatJobs([job]));
  output.out(job.endedAt === null ? `${formatProgress(job)} ${formatBar(job)}`.trimEnd() : formatOutcome(job));
  const failures = await describeFailures(client, job);
  for (const line of [...formatErrors(job), ...formatCauses(job), ...failures]) output.out(line);
}

const taskStates = ['pending', 'assigned', 'running', 'done', 'error', 'cancelled', 'unknown'] as const;

const columns: Column[] = [
  { title: 'Task', align: 'right' },
  { title: 'State', align: 'center' },
  { title: 'Attempt', align: 'right' },
  { title: 'Exit', align: 'right' },
  { title: 'Started', align: 'right' },
  { title: 'Time', align: 'right' },
  { title: 'Approx Cost', align: 'right' },
  { title: 'Instance', align: 'left' },
  { title: 'Reason', align: 'left' },
];

/** Rows of a table for people; JSON has all tasks, unless --limit is given. */
const maxRows = 1_000;

async function showTasks({ output }: CliContext, client: Client, number: number, flags: TaskFlags): Promise<void> {
  const { format, state, sort, rows = format === 'json' ? Infinity : maxRows } = flags;
  const tasks: Task[] = [];
  let areMore = false;
  for await (const task of client.jobs.tasks(number, { limit: Math.min(1_000, rows + 1), ...(state && { state }) })) {
    areMore = tasks.length >= rows;
    if (areMore) break;
    tasks.push(task);
  }
  const sorted = sort === undefined ? tasks : sortBy(tasks, sort, taskKeys);
  if (format === 'json') output.json(sorted);
  else output.out(formatTable(columns, sorted.map(rowOf)));
  if (areMore) output.err(`There are more tasks than these ${tasks.length}: --limit N, --state error, --format json`);
}

function rowOf(task: Task): string[] {
  const { id, state, attempt, exitCode, signal, startedAt, endedAt, instance, reason, cost } = task;
  const exit = exitCode === null ? (signal ?? '') : String(exitCode);
  const span = formatSpan(startedAt, endedAt);
  const tries = attempt === 0 ? '' : String(attempt);
  return [
    String(id),
    state,
    tries,
    exit,
    formatTime(startedAt),
    span,
    formatTaskCost(cost),
    instance ?? '',
    reason ?? '',
  ];
}
