// Ends a job or a cluster, now or later. While Temporal is unavailable, or before the workflow starts, the command is stored and delivered later,
// also by another replica. A row whose start no replica has claimed ends at once, without a start. Ending is idempotent, so no lock is needed.
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
 * Ends a row that waits for its start: for room on its host, or behind others. Only after Temporal has confirmed that there is no workflow, because
 * the row may come from an older backup. Returns false when a replica has claimed the start.
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

/** True for an admitted row, and for the cluster of a job that has not started it yet. Never ended without a start, which may be under way. */
export const isStillToStart = ({ state, job, viewAtMs }: StoredRecord<unknown>): boolean =>
  state === 'waiting' || state === 'admitted' || (state === 'open' && job !== null && viewAtMs === null);
