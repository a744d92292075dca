// Lists open workflows: from visibility, which lags, and from the rows of the database.
import type { Client } from '@temporalio/client';

import { clusterWorkflowId } from '../contracts/cluster.ts';
import { jobWorkflowId } from '../contracts/job.ts';
import type { OpenRecord, Store } from '../store/store.ts';
import type { RecordKind } from '../store/admission-port.ts';

export type RecordStores = Pick<Store, 'jobs' | 'clusters'>;

export const workflowIdOf = ({ kind, number }: { kind: RecordKind; number: number }): string =>
  kind === 'job' ? jobWorkflowId(number) : clusterWorkflowId(number);

/** The kind and number of a workflow id; null for every other workflow. */
export function recordOfId(workflowId: string): { kind: RecordKind; number: number } | null {
  const [, kind, number] = /^(job|cluster)\/(\d{1,15})$/.exec(workflowId) ?? [];
  if (number === undefined) return null;
  return { kind: kind === 'job' ? 'job' : 'cluster', number: Number(number) };
}

/** All open rows, page by page. */
export async function* openRecords(stores: RecordStores): AsyncGenerator<OpenRecord[]> {
  for (const records of [stores.jobs, stores.clusters]) {
    for (let after = 0; ;) {
      const page = await records.listOpen({ after, limit: rowsAtOnce });
      if (page.length > 0) yield page;
      if (page.length < rowsAtOnce) break;
      after = page.at(-1)?.number ?? after;
    }
  }
}

/** Open workflows of jobs and clusters, as visibility lists them. */
export async function* listedWorkflows(client: Client) {
  const query = "WorkflowType IN ('job', 'cluster') AND ExecutionStatus = 'Running'";
  for await (const execution of client.workflow.list({ query })) {
    const record = recordOfId(execution.workflowId);
    if (record !== null) yield { ...record, execution };
  }
}

const rowsAtOnce = 500;

/** Calls `each` for all items, some at a time, because others share the namespace's rate limit. */
export async function inParallel<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += callsAtOnce) {
    await Promise.all(items.slice(from, from + callsAtOnce).map(each));
  }
}

const callsAtOnce = 20;
