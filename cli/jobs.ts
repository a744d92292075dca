// Jobs on a terminal: a table row, one line of progress, and the outcome.
import type { Job } from '../sdk/client.ts';
import { formatCost } from './dollars.ts';
import { exitCodes } from './errors.ts';
import { clean } from './output.ts';
import { parseSortOf, sortBy, type SortKeys } from './sorting.ts';
import { formatTable } from './table.ts';
import type { Column } from './table.ts';
import { formatSpan, formatTime } from './times.ts';

const columns: Column[] = [
  { title: 'ID', align: 'left' },
  { title: 'State', align: 'center' },
  { title: 'Tasks Done', align: 'right' },
  { title: 'Submitted', align: 'right' },
  { title: 'Finished', align: 'right' },
  { title: 'Approx Cloud Cost', align: 'right' },
  { title: 'Command', align: 'left' },
];
const maxCommand = 60;

/** The columns of Coiled's table; `withNames` adds the names of the jobs. */
export function formatJobs(jobs: readonly Job[], { withNames = false }: { withNames?: boolean } = {}): string {
  if (!withNames) return formatTable(columns, jobs.map(rowOf));
  const [id = nameColumn, ...others] = columns;
  const rows = jobs.map((job) => {
    const [number = '', ...cells] = rowOf(job);
    return [number, job.name, ...cells];
  });
  return formatTable([id, nameColumn, ...others], rows);
}

const nameColumn: Column = { title: 'Name', align: 'left' };

const sortKeys: SortKeys<Job> = {
  id: ({ number }) => number,
  name: ({ name }) => name,
  state: ({ status }) => status,
  done: ({ tasks }) => tasks.done,
  submitted: ({ submittedAt }) => submittedAt,
  finished: ({ endedAt }) => endedAt ?? '9999',
  command: ({ command }) => command,
};

export const sortColumns: readonly string[] = Object.keys(sortKeys);

/** `submitted` or `-submitted`, in any case, or several with commas; the titles of the table work too. */
export const parseSort = (text: string): string => parseSortOf(text, sortColumns);

export const sortJobs = (jobs: readonly Job[], sort: string): Job[] => sortBy(jobs, sort, sortKeys);

function rowOf({ number, status, tasks, submittedAt, endedAt, command, cost }: Job): string[] {
  const [done, total] = [tasks.done, tasks.total].map((count) => String(count).padStart(3));
  const characters = [...command];
  const shown = characters.length > maxCommand ? `${characters.slice(0, maxCommand - 1).join('')}…` : command;
  return [
    String(number),
    status,
    `${done} / ${total}`,
    formatTime(submittedAt),
    formatTime(endedAt),
    formatCost(cost),
    shown,
  ];
}

/** One line while it runs: `Job 12 running: 3 / 10 done, 4 running, 1 error`. */
export function formatProgress({ number, status, tasks, reason, staleSince }: Job): string {
  const parts = [`${tasks.done} / ${tasks.total} done`];
  if (tasks.running > 0) parts.push(`${tasks.running} running`);
  if (tasks.error > 0) parts.push(`${tasks.error} error`);
  if (staleSince !== null) parts.push(`as of ${formatTime(staleSince)}`);
  const why = status === 'running' || reason === null ? '' : ` (${clean(reason.text)})`;
  return `Job ${number} ${status}: ${parts.join(', ')}${why}`;
}

/** One line when it has ended: `Job 12 done: 10 / 10 done in 12.3 s`. */
export function formatOutcome(job: Job): string {
  const { number, status, tasks, startedAt, endedAt, reason } = job;
  const parts = [`${tasks.done} / ${tasks.total} done`];
  if (tasks.error > 0) parts.push(`${tasks.error} error`);
  if (tasks.cancelled > 0) parts.push(`${tasks.cancelled} cancelled`);
  const span = formatSpan(startedAt, endedAt);
  const why = reason === null || status === 'done' ? '' : ` (${reason.text})`;
  return `Job ${number} ${status}: ${parts.join(', ')}${span === '' ? '' : ` in ${span}`}${why}`;
}

/** The newest errors of tasks, one line each. Task numbers are the user's ids. */
export function formatErrors(job: Job): string[] {
  return job.recentErrors.map(({ task, attempt, text }) => `(Task ${task}) attempt ${attempt}: ${clean(text)}`);
}

/**
 * `  3 x EXIT_1: exit code 1: ValueError`, the most frequent cause first; empty for a single attempt, which formatErrors shows.
 */
export function formatCauses({ failures = [] }: Job): string[] {
  if (failures.reduce((sum, { count }) => sum + count, 0) < 2) return [];
  return [
    'Failed attempts by cause:',
    ...failures.map(({ code, count, text }) => `  ${count} x ${code}: ${clean(text)}`),
  ];
}

export function exitCodeOf(job: Job): number {
  return job.status === 'done' ? exitCodes.ok : exitCodes.failed;
}
