// Ends tasks of a job as its agents do, in any order; the other tasks are queued again.
import { exchange } from '../../domain/job/exchange.ts';
import type { ExchangeAnswer, ExchangeItem, TaskResult } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';

export function endTasks(
  job: JobState,
  tasks: readonly number[],
  resultOf: (task: number) => Pick<TaskResult, 'exitCode' | 'startedAtMs' | 'endedAtMs'>,
): void {
  const instance = `i_aaaaaaa${job.nextLease}`;
  const say = (item: Partial<ExchangeItem>): ExchangeAnswer =>
    exchange(
      job,
      { instance, claim: 1, want: 0, running: [], results: [], head: false, ...item },
      job.submittedAtMs,
      (task) => task,
    );
  const { grants } = say({ want: tasks.reduce((a, b) => Math.max(a, b), 0) + 1 });
  const leases = new Map(grants.map((grant) => [grant.task, grant]));
  const results = tasks.map((task): TaskResult => {
    const { lease = 0, attempt = 1 } = leases.get(task) ?? {};
    return { lease, task, attempt, signal: null, reason: null, ...resultOf(task) };
  });
  const ended = new Set(tasks);
  say({ results, returned: grants.filter(({ task }) => !ended.has(task)).map(({ lease }) => lease) });
}
