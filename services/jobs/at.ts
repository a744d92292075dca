// A job at a past time: its tasks by their own times, its instances by the history of its cluster.
import type { ClusterView } from '../../contracts/cluster.ts';
import { jobMessages, type JobView, type OpenTasks, type TasksQueryInput } from '../../contracts/job.ts';
import { applyTask, createJobFold, jobAt, type JobFold } from '../../domain/job/at.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { AtQuery, JobAt } from '../../schema/history.ts';
import { foldCluster, instancesOf, moneyOf, pastTime, wireReason } from '../clusters/at.ts';
import type { Context, Deps } from '../context.ts';
import { time } from '../to-wire.ts';
import { inParts } from '../turns.ts';
import type { Viewed } from '../views.ts';
import { findJob, readLive } from './live-tasks.ts';
import { inTurn, readStates, stateAt } from './task-states.ts';

/** @throws RopewalkError NOT_FOUND, VALIDATION for a time before its submission or in the future, FORBIDDEN for another user's private job. */
export async function getJobAt(
  { deps, actor }: Context,
  { number, time: text }: { number: number } & AtQuery,
): Promise<JobAt> {
  const seen = await findJob({ deps, actor }, number);
  const { view } = seen;
  const atMs = pastTime(deps, text, { what: `job ${number}`, fromMs: view.submittedAtMs });
  const fold = createJobFold(atMs);
  await inTurn({ deps, actor }, seen, () => foldTasks(deps, seen, fold));
  const { status, reason, tasks } = jobAt(fold, view);
  const cluster = await findCluster({ deps, actor }, number);
  const at = cluster === null ? null : await foldCluster(deps, cluster, atMs);
  return {
    ...{ number, name: view.name, at: time(atMs), status, reason: wireReason(reason), tasks },
    instances: at === null ? [] : instancesOf(at),
    ...(at === null ? { dollars: 0, dollarsPerHour: 0 } : moneyOf(at)),
  };
}

async function foldTasks(deps: Deps, seen: Viewed<JobView>, fold: JobFold): Promise<void> {
  const states = await readStates(deps, seen);
  const { codes, durationsMs, endedAtMs, running } = states;
  const starts = await readStarts(deps, seen, running);
  await inParts(codes.length, (index) => {
    const ended = endedAtMs[index] ?? 0;
    const took = durationsMs[index] ?? -1;
    const startedAtMs = took >= 0 ? ended - took : (starts.get(index) ?? null);
    applyTask(fold, { state: stateAt(states, index), startedAtMs, endedAtMs: ended === 0 ? null : ended });
  });
}

/** Start times of the running tasks. A task that has ended meanwhile has a record. */
async function readStarts(
  deps: Deps,
  seen: Viewed<JobView>,
  indices: readonly number[],
): Promise<Map<number, number | null>> {
  if (indices.length === 0) return new Map();
  const input = { indices: [...indices] };
  const { answer } = await readLive<OpenTasks, TasksQueryInput>(deps, seen, jobMessages.tasks, input);
  const found =
    answer === null
      ? []
      : [...answer.page.map(({ task, startedAtMs }) => ({ index: task, startedAtMs })), ...answer.open];
  return new Map(found.map(({ index, startedAtMs }) => [index, startedAtMs]));
}

/** Null for a job that ended before it started a cluster. */
async function findCluster(
  { deps, actor }: Pick<Context, 'deps' | 'actor'>,
  number: number,
): Promise<ClusterView | null> {
  try {
    return (await deps.views.cluster(actor.workspace, number)).view;
  } catch (error) {
    if (error instanceof RopewalkError && error.problem.code === 'NOT_FOUND') return null;
    throw error;
  }
}
