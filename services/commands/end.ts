// Ends a job or a cluster, now or later. While Temporal is unavailable, or the workflow is still to be started, the command is
// stored and delivered later, also by another replica. One whose start no replica has claimed ends at once, without a start. Ending
// something twice is ending it once: no lock is needed.
import { clusterMessages, clusterWorkflowId, type StopSignal } from '../../contracts/cluster.ts';
import { jobMessages, jobWorkflowId, type CancelSignal, type CancelTasksSignal } from '../../contracts/job.ts';
import type { DeferredCommand } from '../../store/command-port.ts';
import type { StoredRecord } from '../../store/store.ts';
import { deleteSealed } from '../admission/start.ts';
import type { Deps } from '../context.ts';
import { isUnavailable } from '../unavailable.ts';

export type EndCommand = Omit<DeferredCommand, 'createdAtMs'>;

/** `later`: the command was stored. */
export async function endNowOrLater(
  deps: Ending,
  command: EndCommand,
  record: StoredRecord<unknown>,
): Promise<'sent' | 'ended' | 'later'> {
  const sent = await sendEnd(deps, command).catch((error: unknown) => {
    if (isUnavailable(error)) return 'unavailable';
    throw error;
  });
  if (sent === 'sent') return 'sent';
  if (sent !== 'unavailable' && !isStillToStart(record)) return 'ended';
  if (sent === 'missing' && (await endUnstarted(deps, command, record))) return 'ended';
  await deps.store.commands.put({ ...command, createdAtMs: deps.now() });
  deps.logger.info({ ...command }, 'stored, to be delivered later');
  return 'later';
}

/**
 * Ends the row of what waits for its start: for room on its host, or behind others. Only after Temporal has said that there is no
 * workflow: the row may come from an older backup. False when a replica has claimed the start.
 */
export async function endUnstarted(
  { store, vault, logger, now }: Pick<Ending, 'store' | 'vault' | 'logger' | 'now'>,
  command: EndCommand,
  record: StoredRecord<unknown>,
): Promise<boolean> {
  const { kind, number, tasks } = command;
  if (tasks !== '' || record.state !== 'admitted') return false;
  const what = kind === 'cancel' ? ({ kind: 'job', status: 'cancelled' } as const) : clusterStopped;
  const reason = kind === 'cancel' ? cancelOf(command) : stopOf(command);
  const isEnded = await store.admissions.endUnclaimed({ ...what, number, reason, nowMs: now() });
  if (!isEnded) return false;
  await deleteSealed(vault, record);
  logger.info({ ...command }, 'ended before its start');
  return true;
}

const clusterStopped = { kind: 'cluster', status: 'stopped' } as const;

type Ending = Pick<Deps, 'workflows' | 'store' | 'vault' | 'logger' | 'now'>;

/** Throws UNAVAILABLE. */
export async function sendEnd(
  { workflows }: Pick<Deps, 'workflows'>,
  command: EndCommand,
): Promise<'sent' | 'closed' | 'missing'> {
  const { kind, number, tasks, by } = command;
  if (kind === 'stop') {
    return (await workflows.signal(clusterWorkflowId(number), clusterMessages.stop, stopOf(command))).kind;
  }
  if (tasks !== '') {
    const some: CancelTasksSignal = { tasks, text: `Cancelled by ${by}.`, by };
    return (await workflows.signal(jobWorkflowId(number), jobMessages.cancelTasks, some)).kind;
  }
  return (await workflows.signal(jobWorkflowId(number), jobMessages.cancel, cancelOf(command))).kind;
}

const stopOf = ({ by }: EndCommand): StopSignal => ({ code: 'STOPPED', text: `Stopped by ${by}.`, by });
const cancelOf = ({ by }: EndCommand): CancelSignal => ({ code: 'CANCELLED', text: `Cancelled by ${by}.`, by });

/** Admitted, or the cluster of a job that has not started it yet. Never ended without its start: that may be under way. */
export const isStillToStart = ({ state, job, viewAtMs }: StoredRecord<unknown>): boolean =>
  state === 'waiting' || state === 'admitted' || (state === 'open' && job !== null && viewAtMs === null);
