// Ends a job or a cluster, now or later. While Temporal is unavailable, or the workflow is still to be started, the command is
// stored and delivered later, also by another replica. Ending something twice is ending it once: no lock is needed.
import { clusterMessages, clusterWorkflowId, type StopSignal } from '../../contracts/cluster.ts';
import { jobMessages, jobWorkflowId, type CancelSignal, type CancelTasksSignal } from '../../contracts/job.ts';
import type { DeferredCommand, StoredRecord } from '../../store/store.ts';
import type { Deps } from '../context.ts';
import { isUnavailable } from '../unavailable.ts';

export type EndCommand = Omit<DeferredCommand, 'createdAtMs'>;

/** `later`: the command was stored. */
export async function endNowOrLater(
  deps: Pick<Deps, 'workflows' | 'store' | 'logger' | 'now'>,
  command: EndCommand,
  record: StoredRecord<unknown>,
): Promise<'sent' | 'ended' | 'later'> {
  const sent = await sendEnd(deps, command).catch((error: unknown) => {
    if (isUnavailable(error)) return 'unavailable';
    throw error;
  });
  if (sent === 'sent') return 'sent';
  if (sent !== 'unavailable' && !isStillToStart(record)) return 'ended';
  await deps.store.commands.put({ ...command, createdAtMs: deps.now() });
  deps.logger.info({ ...command }, 'stored, to be delivered later');
  return 'later';
}

/** Throws UNAVAILABLE. */
export async function sendEnd(
  { workflows }: Pick<Deps, 'workflows'>,
  { kind, number, tasks, by }: EndCommand,
): Promise<'sent' | 'closed' | 'missing'> {
  if (kind === 'stop') {
    const stop: StopSignal = { code: 'STOPPED', text: `Stopped by ${by}.`, by };
    return (await workflows.signal(clusterWorkflowId(number), clusterMessages.stop, stop)).kind;
  }
  if (tasks !== '') {
    const some: CancelTasksSignal = { tasks, text: `Cancelled by ${by}.`, by };
    return (await workflows.signal(jobWorkflowId(number), jobMessages.cancelTasks, some)).kind;
  }
  const cancel: CancelSignal = { code: 'CANCELLED', text: `Cancelled by ${by}.`, by };
  return (await workflows.signal(jobWorkflowId(number), jobMessages.cancel, cancel)).kind;
}

/** Admitted, or the cluster of a job that has not started it yet. Never ended without its start: that may be under way. */
export const isStillToStart = ({ state, job, viewAtMs }: StoredRecord<unknown>): boolean =>
  state === 'waiting' || state === 'admitted' || (state === 'open' && job !== null && viewAtMs === null);
