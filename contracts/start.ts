// How every job and cluster workflow is started, by the API and by a job that starts its cluster: never twice under one id,
// with a short workflow task timeout, and readable in the Temporal UI.
import type { WorkflowIdReusePolicy } from '@temporalio/common';

import { workflowTaskTimeoutMs } from '../domain/workflow-limits.ts';
import { clusterType, clusterWorkflowId, type ClusterInput } from './cluster.ts';
import { controlQueue } from './flush.ts';
import { jobType, jobWorkflowId, type JobInput } from './job.ts';
import { statusKey, userKey, workspaceKey } from './search-attributes.ts';

/** What its admission says of a job or cluster. */
export interface StartSubject {
  kind: 'job' | 'cluster';
  number: number;
  workspace: string;
  name: string;
  user: string;
  /** In the memo: by it a start that finds the id taken knows whose workflow that is. */
  admissionId: string;
  specRef: string;
  privateToCreator: boolean;
}

/** Kept by every later run of the workflow. */
export type StartMemo = { admissionId: string; name: string; kind: 'job' | 'cluster'; owner: string };

/** What a workflow is started with, beside its id and input: the same for a client and for a parent workflow. */
export function startOptions(item: Omit<StartSubject, 'specRef' | 'privateToCreator'>) {
  const { kind, number, workspace, name, user, admissionId } = item;
  const memo: StartMemo = { admissionId, name, kind, owner: user };
  const workflowIdReusePolicy: WorkflowIdReusePolicy = 'REJECT_DUPLICATE';
  return {
    taskQueue: controlQueue,
    workflowIdReusePolicy,
    workflowTaskTimeout: workflowTaskTimeoutMs,
    memo,
    typedSearchAttributes: [
      { key: workspaceKey, value: workspace },
      { key: userKey, value: user },
      { key: statusKey, value: 'pending' },
    ],
    staticSummary: `${kind === 'job' ? 'Job' : 'Cluster'} ${number}: ${name}`,
    staticDetails: `Submitted by **${user}** in workspace **${workspace}**; admission ${admissionId}.`,
  };
}

export type StartOptions = ReturnType<typeof startOptions>;

export interface WorkflowStart {
  type: string;
  workflowId: string;
  input: JobInput | ClusterInput;
  options: StartOptions;
}

/** The start of the workflow that an admission is for. */
export function startOf(admitted: StartSubject, deploymentId: string): WorkflowStart {
  const { kind, number, workspace, name, user, admissionId, specRef, privateToCreator } = admitted;
  const input = { number, workspace, name, admissionId, specRef, user, deploymentId };
  const options = startOptions(admitted);
  if (kind === 'job') {
    return { type: jobType, workflowId: jobWorkflowId(number), input: { ...input, privateToCreator }, options };
  }
  return { type: clusterType, workflowId: clusterWorkflowId(number), input: { ...input, settings: null }, options };
}
