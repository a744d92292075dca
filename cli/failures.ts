// The failed tasks of a job, and the last lines of the first of them: of stderr, or of stdout when stderr is empty.
import type { Client, Job, LogLine, Task } from '../sdk/client.ts';
import { clean } from './output.ts';

const maxTailed = 3;
const tailLines = 5;
/** A job can have a million failed tasks; `batch status N --state error` lists all. */
const maxListed = 1_000;
const maxRanges = 20;

/** Empty for a job without failed tasks. Omits output that cannot be read now. */
export async function describeFailures(client: Client, job: Job, signal?: AbortSignal): Promise<string[]> {
  if (job.tasks.error === 0) return [];
  const options = { ...(signal && { signal }) };
  const failed = await firstFailed(client, job.number, options).catch(() => []);
  if (failed.length === 0) return [];
  const tailed = failed.slice(0, maxTailed);
  const tails = await readTails(client, job.number, tailed, options).catch(() => new Map<number, LogLine[]>());
  signal?.throwIfAborted();
  return [
    `Failed task ids: ${formatIds(
      failed.map(({ id }) => id),
      job.tasks.error > failed.length,
    )}`,
    ...tailed.flatMap(({ id }) => (tails.get(id) ?? []).map(({ text }) => `(Task ${id})   ${clean(text)}`)),
  ];
}

async function firstFailed(client: Client, number: number, options: { signal?: AbortSignal }): Promise<Task[]> {
  const found: Task[] = [];
  for await (const task of client.jobs.tasks(number, { limit: maxListed, state: 'error', ...options })) {
    found.push(task);
    if (found.length === maxListed) break;
  }
  return found;
}

/** `3, 7-9`: sorted ids with neighbours as a range. `hasMore`: there are ids beyond these. */
export function formatIds(ids: readonly number[], hasMore: boolean): string {
  const ranges: [first: number, last: number][] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === id) last[1] = id;
    else ranges.push([id, id]);
  }
  const shown = ranges.slice(0, maxRanges).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return hasMore || ranges.length > maxRanges ? `${shown.join(', ')} and more` : shown.join(', ');
}

/** The output of each task's last attempt. */
async function readTails(
  client: Client,
  number: number,
  tasks: readonly Task[],
  options: { signal?: AbortSignal },
): Promise<Map<number, LogLine[]>> {
  const last = new Map<number, { stdout: LogLine[]; stderr: LogLine[] }>();
  for (const { id } of tasks) last.set(id, { stdout: [], stderr: [] });
  const attempts = new Map(tasks.map(({ id, attempt }) => [id, attempt]));
  const ids = tasks.map(({ id }) => id).join(',');
  for await (const line of client.jobs.logs(number, { tasks: ids, ...options })) {
    if (line.task === null || line.stream === 'agent' || line.attempt !== attempts.get(line.task)) continue;
    const lines = last.get(line.task)?.[line.stream];
    lines?.push(line);
    if (lines !== undefined && lines.length > tailLines) lines.shift();
  }
  return new Map([...last].map(([id, { stdout, stderr }]) => [id, stderr.length > 0 ? stderr : stdout]));
}
