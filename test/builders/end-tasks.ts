// Ends tasks of a job as its agents do, in any order; the other tasks up to the last one are queued again. A job grants no more
// tasks while `maxUnwrittenRecords` of ended ones are not archived: then this throws.
import { exchange } from '../../domain/job/exchange.ts';
import { maxHeldLeases } from '../../domain/job/limits.ts';
import type { ExchangeAnswer, ExchangeItem, TaskResult } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';

export function endTasks(
  job: JobState,
  tasks: readonly number[],
  resultOf: (task: number) => Pick<TaskResult, 'exitCode' | 'startedAtMs' | 'endedAtMs'>,
): void {
  const last = tasks.reduce((a, b) => Math.max(a, b), -1);
  for (; job.nextFresh <= last; job.nextFresh += 1) job.requeued.push(job.nextFresh);
  for (let from = 0; from < tasks.length; from += maxHeldLeases)
    endTogether(job, tasks.slice(from, from + maxHeldLeases), resultOf);
}

/** The tasks of one instance, which gets the first ones of the queue. */
function endTogether(job: JobState, tasks: readonly number[], resultOf: Parameters<typeof endTasks>[2]): void {
  const wanted = new Set(tasks);
  job.requeued = [...tasks, ...job.requeued.filter((task) => !wanted.has(task))];
  const instance = `i_aaaaaaa${job.nextLease}`;
  const say = (item: Partial<ExchangeItem>): ExchangeAnswer =>
    exchange(
      job,
      { instance, claim: 1, want: 0, running: [], results: [], head: false, ...item },
      job.submittedAtMs,
      (task) => task,
    );
  const { grants } = say({ want: tasks.length });
  if (grants.length < tasks.length) throw new Error(`the job granted ${grants.length} of ${tasks.length} tasks`);
  const results = grants.map(({ lease, task, attempt }): TaskResult => ({
    ...{ lease, task, attempt, signal: null, reason: null },
    ...resultOf(task),
  }));
  say({ results });
}
