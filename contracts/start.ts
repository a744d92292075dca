// Start options of every job and cluster workflow, for the API and for a job that starts its cluster: at most one start per id, a short workflow task
// timeout, and readable details in the Temporal UI.
import type { WorkflowIdReusePolicy } from '@temporalio/common';

import { workflowTaskTimeoutMs } from '../domain/workflow-limits.ts';
import { clusterType, clusterWorkflowId, type ClusterInput } from './cluster.ts';
import { controlQueue } from './flush.ts';
import { jobType, jobWorkflowId, type JobInput } from './job.ts';
import { statusKey, userKey, workspaceKey } from './search-attributes.ts';

/** A job or cluster, as its admission describes it. */
export interface StartSubject {
  kind: 'job' | 'cluster';
  number: number;
  workspace: string;
  name: string;
  user: string;
  /** Stored in the memo: a start that finds the id in use identifies the owner of that workflow by it. */
  admissionId: string;
  specRef: string;
  privateToCreator: boolean;
}

/** Kept by all later runs of the workflow. */
export type StartMemo = { admissionId: string; name: string; kind: 'job' | 'cluster'; owner: string };

/** Start options besides id and input, the same for a client and for a parent workflow. */
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

/** The workflow start of an admission. */
export function startOf(admitted: StartSubject, deploymentId: string): WorkflowStart {
  const { kind, number, workspace, name, user, admissionId, specRef, privateToCreator } = admitted;
  const input = { number, workspace, name, admissionId, specRef, user, deploymentId };
  const options = startOptions(admitted);
  if (kind === 'job') {
    return { type: jobType, workflowId: jobWorkflowId(number), input: { ...input, privateToCreator }, options };
  }
  return { type: clusterType, workflowId: clusterWorkflowId(number), input: { ...input, settings: null }, options };
}
