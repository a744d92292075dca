// Adds an approximate cost to each task of a page: its time on its instance, at that instance's price.
import { dollarsOf } from '../../domain/cost/interval.ts';
import { taskMicros } from '../../domain/cost/task-share.ts';
import type { Task } from '../../schema/jobs.ts';
import type { Deps } from '../context.ts';

/** Null without a start, and for an instance that is not in the ledger yet. */
export async function withTaskCosts(deps: Deps, job: number, tasks: readonly Omit<Task, 'cost'>[]): Promise<Task[]> {
  const entries = tasks.some(({ startedAt }) => startedAt !== null) ? await deps.store.costs.ofClusters([job]) : null;
  const byInstance = new Map((entries?.get(job) ?? []).map((entry) => [entry.instance, entry]));
  const nowMs = deps.now();
  return tasks.map((task) => {
    const interval = task.instance === null ? undefined : byInstance.get(task.instance);
    if (interval === undefined || task.startedAt === null) return { ...task, cost: null };
    const endedAtMs = task.endedAt === null ? null : Date.parse(task.endedAt);
    const time = { startedAtMs: Date.parse(task.startedAt), endedAtMs };
    return { ...task, cost: { dollars: dollarsOf(taskMicros(interval, time, nowMs)) } };
  });
}
