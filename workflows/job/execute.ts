// What a job does to the world: reads its specification, starts its cluster, archives, and says goodbye.
import { getExternalWorkflowHandle, log, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

import { jobOver } from '../../domain/cluster/plan.ts';
import { createJobState } from '../../domain/job/create.ts';
import type { Suspect } from '../../domain/job/events.ts';
import type { JobState } from '../../domain/job/state.ts';
import { pageDue, pageWritten, summarizeJob } from '../../domain/job/view.ts';
import { cloudRegisterTimeoutMs, registerTimeoutMs } from '../../domain/limits.ts';
import { startAbandoned } from '../children.ts';
import { clusterMessages, clusterType, clusterWorkflowId } from '../../contracts/cluster.ts';
import type { ClusterInput, GiveBackSignal, StopSignal, SuspectSignal } from '../../contracts/cluster.ts';
import { control } from '../control-activities.ts';
import { statusKey } from '../../contracts/search-attributes.ts';
import { workspaceMessages, workspaceWorkflowId } from '../workspace/messages.ts';
import type { ReleasedSignal } from '../workspace/messages.ts';
import type { JobCarry, JobInput, JobView } from '../../contracts/job.ts';

export async function load(input: JobInput): Promise<{ state: JobState; bundleRef: string }> {
  const loaded = await control.loadJob.executeWithOptions({ summary: 'read the job specification' }, [
    { specRef: input.specRef },
  ]);
  const job = { number: input.number, workspace: input.workspace, submittedAtMs: loaded.createdAtMs };
  return { state: createJobState(job, { ...loaded.settings, name: input.name }), bundleRef: loaded.bundleRef };
}

/** The cluster shares the job's number and its admission; only this job ever starts it. */
export async function startCluster(state: JobState, input: JobInput): Promise<void> {
  const { settings } = state;
  const cluster: ClusterInput = {
    number: state.number,
    workspace: state.workspace,
    admissionId: input.admissionId,
    user: input.user,
    deploymentId: input.deploymentId,
    settings: {
      name: settings.name,
      job: state.number,
      instances: settings.instances,
      provider: settings.provider,
      providerQueue: settings.providerQueue,
      instanceVcpus: settings.instanceVcpus,
      registerTimeoutMs: settings.machines === undefined ? registerTimeoutMs : cloudRegisterTimeoutMs,
      machines: settings.machines,
      dask: null,
    },
    specRef: null,
    name: settings.name,
  };
  await startAbandoned({
    type: clusterType,
    workflowId: clusterWorkflowId(state.number),
    input: cluster,
    workspace: state.workspace,
    user: input.user,
    admissionId: input.admissionId,
    summary: `Cluster ${state.number} of job ${state.number}: ${settings.instances} instances`,
    details: `Runs the tasks of **${settings.name}** on provider **${settings.provider}**.`,
  });
}

/** Asks the cluster to look at instances that were not heard of. */
export async function suspect(number: number, suspects: Suspect[]): Promise<void> {
  const signal: SuspectSignal = { instances: suspects };
  await tell(clusterWorkflowId(number), clusterMessages.suspect, signal);
}

/** Tells the cluster which instances this job needs no more. */
export async function giveBack(number: number, instances: string[]): Promise<void> {
  const signal: GiveBackSignal = { instances };
  await tell(clusterWorkflowId(number), clusterMessages.giveBack, signal);
}

/** Writes the oldest records to the archive, and only then drops them from the state. */
export async function writePage(state: JobState): Promise<void> {
  for (let due = pageDue(state); due !== null; due = pageDue(state)) {
    await control.archiveTaskPage.executeWithOptions({ summary: `archive task page ${state.pagesWritten}` }, [
      { workspace: state.workspace, job: state.number, page: state.pagesWritten, records: due },
    ]);
    pageWritten(state, due.length);
  }
}

/** Archives the outcome, then lets the cluster go; the cluster releases the reservation when its instances are gone. */
export async function finish(carry: JobCarry, input: JobInput, view: () => JobView): Promise<void> {
  await control.archiveJob.executeWithOptions({ summary: 'archive the outcome, delete the sealed bundle' }, [
    { view: view(), bundleRef: carry.bundleRef },
  ]);
  if (carry.clusterStarted) {
    const text = `job ${input.number} is over: ${carry.state.outcome?.reason.text ?? ''}`;
    const signal: StopSignal = { code: jobOver, text };
    await tell(clusterWorkflowId(input.number), clusterMessages.stop, signal);
    return;
  }
  const released: ReleasedSignal = { number: input.number };
  await tell(workspaceWorkflowId(input.workspace), workspaceMessages.released, released);
}

/** Search attributes change with the phase only: each upsert is an event. */
export function tagStatus(state: JobState): void {
  const { status } = summarizeJob(state);
  if (workflowInfo().typedSearchAttributes.get(statusKey) !== status) {
    upsertSearchAttributes([{ key: statusKey, value: status }]);
  }
}

/** A signal to a workflow that is already over is not an error: there is nobody left to tell. */
export async function tell(workflowId: string, signal: string, body: object): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).signal(signal, body);
  } catch (error) {
    log.info('nobody to tell', { workflowId, signal, error: String(error) });
  }
}
