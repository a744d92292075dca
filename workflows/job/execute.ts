// The effects of a job: reads its specification, starts its cluster, writes pages and views.
import { log, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

import { clusterMessages, clusterType, clusterWorkflowId } from '../../contracts/cluster.ts';
import type { ClusterInput, ReleaseInstancesSignal, StopSignal, SuspectSignal } from '../../contracts/cluster.ts';
import { clusterGone, type JobCarry, type JobInput, type JobView } from '../../contracts/job.ts';
import { statusKey } from '../../contracts/search-attributes.ts';
import { startOptions } from '../../contracts/start.ts';
import { jobOver } from '../../domain/cluster/plan.ts';
import { createJobState } from '../../domain/job/create.ts';
import type { Suspect } from '../../domain/job/events.ts';
import type { JobState } from '../../domain/job/state.ts';
import { pageDue, pageWritten, summarizeJob } from '../../domain/job/summary.ts';
import { cloudRegisterTimeoutMs, registerTimeoutMs } from '../../domain/cluster/limits.ts';
import { nextVersion } from '../../domain/projection.ts';
import { plural } from '../../domain/units.ts';
import { bounded, control } from '../activities.ts';
import { startAbandoned } from '../children.ts';
import { notify } from '../notify.ts';

export async function load(input: JobInput): Promise<{ state: JobState; bundleRef: string }> {
  const loaded = await control.loadJob.executeWithOptions({ summary: 'read the job specification' }, [
    { specRef: input.specRef },
  ]);
  const job = { number: input.number, workspace: input.workspace, submittedAtMs: loaded.createdAtMs };
  return { state: createJobState(job, { ...loaded.settings, name: input.name }), bundleRef: loaded.bundleRef };
}

/** The cluster shares the job's number and its admission. Only this job starts it. */
export async function startCluster(state: JobState, input: JobInput): Promise<void> {
  const { settings } = state;
  const { number, workspace, admissionId, user, deploymentId } = input;
  const cluster: ClusterInput = {
    ...{ number, workspace, admissionId, user, deploymentId, specRef: null, name: settings.name },
    settings: {
      name: settings.name,
      job: number,
      instances: settings.instances,
      provider: settings.provider,
      providerQueue: settings.providerQueue,
      instanceVcpus: settings.instanceVcpus,
      registerTimeoutMs: settings.machines === undefined ? registerTimeoutMs : cloudRegisterTimeoutMs,
      machines: settings.machines,
      allOrNothing: settings.gang,
      maxCostMicros: settings.maxCostMicros,
      dask: null,
    },
  };
  const options = {
    ...startOptions({ kind: 'cluster', number, workspace, admissionId, user, name: settings.name }),
    staticSummary: `Cluster ${number} of job ${number}: ${plural(settings.instances, 'instance')}`,
    staticDetails: `Runs the tasks of **${settings.name}** on provider **${settings.provider}**.`,
  };
  await startAbandoned({ type: clusterType, workflowId: clusterWorkflowId(number), input: cluster, options });
}

/** Asks the cluster to inspect silent instances. */
export async function suspect(number: number, suspects: Suspect[]): Promise<void> {
  const signal: SuspectSignal = { instances: suspects };
  await notify(clusterWorkflowId(number), clusterMessages.suspect, signal);
}

/** Releases instances that this job no longer needs. */
export async function releaseInstances(number: number, instances: string[]): Promise<void> {
  const signal: ReleaseInstancesSignal = { instances };
  await notify(clusterWorkflowId(number), clusterMessages.releaseInstances, signal);
}

/** Writes the oldest records to the object store, then drops them from the state. */
async function writePages(
  state: JobState,
  { archiveTaskPage }: Pick<typeof control, 'archiveTaskPage'>,
): Promise<void> {
  for (let due = pageDue(state); due !== null; due = pageDue(state)) {
    await archiveTaskPage.executeWithOptions({ summary: `write task page ${state.pagesWritten}` }, [
      { workspace: state.workspace, job: state.number, page: state.pagesWritten, records: due },
    ]);
    pageWritten(state, due.length);
  }
}

/** Returns false when the object store is unavailable for several seconds: leases, timeouts and continue-as-new must not wait for it. */
export async function tryWritePages(state: JobState): Promise<boolean> {
  try {
    await writePages(state, bounded);
    return true;
  } catch (error) {
    log.warn('a page of task records could not be written', { error: String(error) });
    return false;
  }
}

export async function writeView(view: JobView, version: number): Promise<void> {
  const { number, workspace, status } = view;
  await bounded.writeView.executeWithOptions({ summary: `write view ${version} to the database: ${status}` }, [
    { kind: 'job', number, workspace, view, version, end: null },
  ]);
}

/**
 * Stops the cluster, writes the remaining pages, then writes the final view until the database accepts it. The cluster releases name and quota when
 * its instances have ended; without a cluster, the job releases them.
 */
export async function finish({ state, bundleRef, clusterStarted }: JobCarry, view: () => JobView): Promise<void> {
  const { number, workspace } = state;
  if (clusterStarted) {
    const signal: StopSignal = { code: jobOver, text: `job ${number} ended: ${state.outcome?.reason.text ?? ''}` };
    await notify(clusterWorkflowId(number), clusterMessages.stop, signal);
  }
  // After the stop: no instance must run while the job waits for the object store.
  await writePages(state, control);
  const release = !clusterStarted || state.cancelRequested?.code === clusterGone;
  const isDone = state.counters.done === state.settings.taskCount;
  await control.writeView.executeWithOptions(
    { summary: 'write the final view to the database, delete the sealed bundle or keep it for a retry' },
    [
      {
        kind: 'job',
        number,
        workspace,
        view: view(),
        version: nextVersion(state.projection),
        end: isDone ? { release, sealed: [bundleRef] } : { release, sealed: [], retriable: bundleRef },
      },
    ],
  );
}

/** Each upsert is an event, so search attributes change only with the phase. */
export function tagStatus(state: JobState): void {
  const { status } = summarizeJob(state);
  if (workflowInfo().typedSearchAttributes.get(statusKey) !== status) {
    upsertSearchAttributes([{ key: statusKey, value: status }]);
  }
}
