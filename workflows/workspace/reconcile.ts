// A workspace's look at the workflows of its reservations, beside the loop that starts new ones, which never waits for it.
// What a terminated workflow left behind is ended first, archived next, and only then released.
import { ActivityCancellationType, log, patched, proxyActivities } from '@temporalio/workflow';

import type { EndedActivities, InstanceActivities } from '../../contracts/activities.ts';
import { beginLook, judgeLook, nextLookMs } from '../../domain/workspace/reconcile.ts';
import { release } from '../../domain/workspace/holders.ts';
import type { Holder, WorkspaceState } from '../../domain/workspace/state.ts';
import { clusterMessages, clusterWorkflowId } from '../../contracts/cluster.ts';
import type { StopSignal } from '../../contracts/cluster.ts';
import { tell } from '../job/execute.ts';
import { jobMessages, jobWorkflowId } from '../../contracts/job.ts';
import type { CancelSignal } from '../../contracts/job.ts';

export interface Looks {
  /** When the next one is due; null while one is under way, and while there is nothing to look at. */
  dueMs: () => number | null;
  /** Begins one if it is due. It never rejects: what fails is tried again by the next one. */
  beginIfDue: (nowMs: number) => void;
  underWay: () => boolean;
}

export function createLooks(state: WorkspaceState): Looks {
  let underWay = false;
  const dueMs = (): number | null => (underWay ? null : nextLookMs(state));
  return {
    dueMs,
    beginIfDue(nowMs) {
      const due = dueMs();
      if (due === null || due > nowMs) return;
      underWay = true;
      void look(state, nowMs)
        .catch((error: unknown) => log.warn('a look at the open workflows failed', { error: String(error) }))
        .finally(() => {
          underWay = false;
        });
    },
    underWay: () => underWay,
  };
}

async function look(state: WorkspaceState, nowMs: number): Promise<void> {
  const holders = beginLook(state, nowMs).map(({ number, kind }) => ({ number, kind }));
  if (holders.length === 0) return;
  const { sightings } = await control.lookAtHolders.executeWithOptions(
    { summary: `are ${holders.length} still there?` },
    [{ holders }],
  );
  const { gone, stopCluster, endJob } = judgeLook(state, sightings);
  await carryOut([
    ...stopCluster.map((holder) => () => stopClusterOf(state, holder)),
    ...endJob.map((holder) => () => endJobOf(holder)),
    ...gone.map((holder) => () => bury(state, holder)),
  ]);
}

const apartPatch = 'looks-apart';

/** Activities under way at once. */
const stepsAtOnce = 100;

/** One that fails must not keep the others from what is due to them: it is due again at the next look. */
async function carryOut(steps: (() => Promise<void>)[]): Promise<void> {
  if (steps.length === 0) return;
  if (!patched(apartPatch)) {
    // Histories from before this were recorded with one after the other, up to the first that failed.
    for (const step of steps) await step();
    return;
  }
  const failed = (error: unknown): void =>
    log.warn('what a look found could not be dealt with yet', { error: String(error) });
  for (let from = 0; from < steps.length; from += stepsAtOnce) {
    await Promise.all(steps.slice(from, from + stepsAtOnce).map((step) => step().catch(failed)));
  }
}

async function stopClusterOf(state: WorkspaceState, holder: Holder): Promise<void> {
  const { number } = holder;
  // The cluster will release the reservation, and with that the last trace of the job.
  await archive(state, holder, ['job']);
  const signal: StopSignal = { code: 'JOB_GONE', text: `${jobWorkflowId(number)} was ended from outside` };
  await tell(clusterWorkflowId(number), clusterMessages.stop, signal);
}

async function endJobOf({ number }: Holder): Promise<void> {
  const signal: CancelSignal = { code: 'CLUSTER_GONE', text: `${clusterWorkflowId(number)} was ended from outside` };
  await tell(jobWorkflowId(number), jobMessages.cancel, signal);
}

async function bury(state: WorkspaceState, holder: Holder): Promise<void> {
  const { number, specRef } = holder;
  try {
    const where = await control.whereWas.executeWithOptions({ summary: `where was ${number}?` }, [{ specRef }]);
    if (where !== null) {
      const owner = { deploymentId: state.deploymentId, workspace: state.slug, cluster: number };
      const { ids } = await at(where.providerQueue).terminateRemains.executeWithOptions(
        { summary: `end whatever still carries the tags of ${number}` },
        [{ provider: where.provider, owner }],
      );
      if (ids.length > 0) log.warn('what a terminated workflow had left was ended', { number, ids });
    }
    await archive(state, holder, holder.kind === 'job' ? ['job', 'cluster'] : ['cluster']);
    release(state, number);
  } catch (error) {
    log.warn('what was ended from outside could not be released yet', { number, error: String(error) });
  }
}

function archive(state: WorkspaceState, holder: Holder, parts: ('job' | 'cluster')[]): Promise<void> {
  return control.archiveEnded.executeWithOptions(
    { summary: `archive ${parts.join(' and ')} ${holder.number}, which could not do it` },
    [{ workspace: state.slug, holder, parts }],
  );
}

// Bounded: the next look tries again, and continuing as new waits for this one.
const control = proxyActivities<EndedActivities>({
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '2m',
  heartbeatTimeout: '10s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500ms', maximumInterval: '10s' },
});

const at = (taskQueue: string) =>
  proxyActivities<InstanceActivities>({
    taskQueue,
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: '2m',
    heartbeatTimeout: '5s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
  });
