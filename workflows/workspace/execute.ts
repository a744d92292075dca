// How a workspace's decisions become children and leases. Nothing here is in flight when the loop continues as new.
import { ActivityCancellationType, log, patched, proxyActivities, sleep } from '@temporalio/workflow';

import { addSpare, needsSpare, noteStart, takeStartable } from '../../domain/workspace/holders.ts';
import type { Holder, WorkspaceState } from '../../domain/workspace/state.ts';
import { startAbandoned } from '../children.ts';
import { control, type ControlActivities } from '../control-activities.ts';
import { shouldRoll } from '../rolling.ts';
import { clusterType, clusterWorkflowId } from '../../contracts/cluster.ts';
import type { ClusterInput } from '../../contracts/cluster.ts';
import { jobType, jobWorkflowId } from '../../contracts/job.ts';
import type { JobInput } from '../../contracts/job.ts';

/** Starts the workflows of reservations, so many at a time. A start that fails is tried again in the next round. */
export async function startHolders(state: WorkspaceState): Promise<void> {
  const batch = takeStartable(state);
  if (batch.length === 0) return;
  // Histories from before this were recorded with batches that waited for their slowest.
  const flows = patched(flowPatch);
  let hasFailed = false;
  const startAll = async (holders: Holder[]): Promise<void> => {
    await Promise.all(
      holders.map(async (holder) => {
        if (!(await startHolder(state, holder))) hasFailed = true;
        if (flows && !hasFailed && !shouldRoll()) await startAll(takeStartable(state));
      }),
    );
  };
  await startAll(batch);
  if (hasFailed) await sleep('1s', { summary: 'pause before failed starts are tried again' });
}

const flowPatch = 'starts-flow';

async function startHolder(state: WorkspaceState, holder: Holder): Promise<boolean> {
  try {
    const { type, workflowId, input } = startOf(state, holder);
    const outcome = await startAbandoned({
      type,
      workflowId,
      input,
      workspace: state.slug,
      user: holder.user,
      admissionId: holder.admissionId,
      summary: `${holder.kind === 'job' ? 'Job' : 'Cluster'} ${holder.number}: ${holder.name}`,
      details: `Submitted by **${holder.user}** in workspace **${state.slug}**; admission ${holder.admissionId}.`,
    });
    if (outcome === 'already there') await assertOurs(workflowId, holder);
    noteStart(state, holder.number, true);
    return true;
  } catch (error) {
    log.warn('a reserved job could not be started yet', { number: holder.number, error: String(error) });
    noteStart(state, holder.number, false);
    return false;
  }
}

/** "Already started" is success only if it was this very admission that started it. */
async function assertOurs(workflowId: string, holder: Holder): Promise<void> {
  const { admissionId } = await control.admissionOf.executeWithOptions({ summary: `whose is ${workflowId}?` }, [
    { workflowId },
  ]);
  if (admissionId === holder.admissionId) return;
  log.error('a number was used twice', { workflowId, admissionId, expected: holder.admissionId });
}

function startOf(
  state: WorkspaceState,
  holder: Holder,
): { type: string; workflowId: string; input: JobInput | ClusterInput } {
  const input = jobInput(state, holder);
  if (holder.kind === 'job') return { type: jobType, workflowId: jobWorkflowId(holder.number), input };
  return { type: clusterType, workflowId: clusterWorkflowId(holder.number), input: { ...input, settings: null } };
}

function jobInput(state: WorkspaceState, holder: Holder): JobInput {
  return {
    number: holder.number,
    workspace: state.slug,
    name: holder.name,
    admissionId: holder.admissionId,
    specRef: holder.specRef,
    user: holder.user,
    deploymentId: state.deploymentId,
    privateToCreator: holder.privateToCreator === true,
  };
}

/** Keeps a block of numbers in hand, so that admission never waits for one. */
export async function leaseSpare(state: WorkspaceState, { leaseNumbers } = control): Promise<void> {
  if (!needsSpare(state)) return;
  const leaseSeq = state.leaseSeq;
  // Whoever asks again asks under the same number, and gets the block that may have been given already.
  const block = await leaseNumbers.executeWithOptions({ summary: `lease number block ${leaseSeq}` }, [
    { slug: state.slug, opId: `${state.slug}/${leaseSeq}` },
  ]);
  addSpare(state, leaseSeq, block);
}

export interface Lease {
  isDue: () => boolean;
  /** Begins one if it is due. It never rejects: one that fails is due again after a pause. */
  beginIfDue: () => void;
  underWay: () => boolean;
}

/** Leases beside the loop, which never waits for them: what there are numbers for is started while the deployment stands still. */
export function createLease(state: WorkspaceState): Lease {
  let underWay = false;
  // A run that is to end begins none, and the next one does.
  const isDue = (): boolean => !underWay && needsSpare(state) && !shouldRoll();
  const lease = async (): Promise<void> => {
    try {
      await leaseSpare(state, boundedControl);
    } catch (error) {
      log.warn('no block of numbers could be leased yet', { leaseSeq: state.leaseSeq, error: String(error) });
      await sleep('10s', { summary: 'pause before a lease that failed is tried again' });
    }
  };
  return {
    isDue,
    beginIfDue() {
      if (!isDue()) return;
      underWay = true;
      void lease().finally(() => {
        underWay = false;
      });
    },
    underWay: () => underWay,
  };
}

// Bounded, because continuing as new waits for it.
const boundedControl = proxyActivities<ControlActivities>({
  startToCloseTimeout: '5s',
  scheduleToCloseTimeout: '1m',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});
