// Compares open rows with their workflows, and finalizes a row whose workflow cannot. Every step is idempotent.
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';

import type { MissingRecord, ReconcileActivities, RecordComparison } from '../contracts/activities.ts';
import { clusterMessages, type ClusterView, clusterWorkflowId } from '../contracts/cluster.ts';
import { jobMessages, type JobView, jobWorkflowId } from '../contracts/job.ts';
import type { ReconcileInput } from '../contracts/reconcile.ts';
import { statusKey } from '../contracts/search-attributes.ts';
import { decideRow } from '../domain/reconcile/decide.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { Vault } from '../platform/vault/vault.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { OpenRecord, RecordStore, Store, StoredRecord } from '../store/store.ts';
import { clusterOfRecord, endedCluster, isBlankCluster } from '../views/cluster.ts';
import { endedJob, isBlankJob, jobOfRecord } from '../views/job.ts';
import { heartbeating } from './heartbeating.ts';
import { inParallel, openRecords, workflowIdOf } from './open-workflows.ts';
import { describeWorkflow, inTime, lookUp, queryOrNull, refusalFor } from './presence.ts';
import { readSpec, sealedRefs } from './specs.ts';

export interface ReconcileDeps {
  client: Client;
  store: Pick<Store, 'jobs' | 'clusters' | 'deployment'>;
  objects: Objects;
  vault: Pick<Vault, 'delete'>;
  now?: () => number;
}

export function createReconcileActivities(deps: ReconcileDeps): Omit<ReconcileActivities, 'adoptWorkflows'> {
  const { objects } = deps;
  return {
    compareRecords: (input) => heartbeating(() => compareAll(deps, input)),

    async locate({ specRef }) {
      const spec = await readSpec<JobSpec | ClusterSpec>(objects, specRef);
      if (spec === null) return null;
      const { provider, providerQueue } = spec.settings;
      return { provider, providerQueue };
    },

    finalizeRecord: (missing) => heartbeating(() => finalizeOne(deps, missing)),
  };
}

async function compareAll(deps: ReconcileDeps, input: ReconcileInput): Promise<RecordComparison> {
  const { client, store } = deps;
  const found: RecordComparison = {
    ...{ refusal: await refusalFor(client, input.deploymentId), compared: 0 },
    ...{ finalize: [], cancelJobs: [], refreshed: [], waiting: [], unknown: [] },
  };
  if (found.refusal !== null) return found;
  for await (const page of openRecords(store)) {
    await inParallel(page, (row) => compareOne(deps, input, row, found));
  }
  return found;
}

async function compareOne(
  deps: ReconcileDeps,
  { graceMs, dryRun }: ReconcileInput,
  row: OpenRecord,
  found: RecordComparison,
): Promise<void> {
  const { client, store, now = Date.now } = deps;
  const { kind, number, workspace, specRef, missingSinceMs } = row;
  const jobNumber = kind === 'job' ? number : row.job;
  // The job first: a cluster found after its job has ended may be ending too.
  const job = jobNumber === null ? null : await lookUp(client, jobWorkflowId(jobNumber));
  const cluster = await lookUp(client, clusterWorkflowId(number));
  const seen = { kind, job: job?.presence ?? null, cluster: cluster.presence, missingSinceMs };
  const decision = decideRow(seen, graceMs, now());
  const name = workflowIdOf(row);
  const missing: MissingRecord = { kind, number, workspace, specRef };
  const records = kind === 'job' ? store.jobs : store.clusters;
  found.compared += 1;
  if (decision.do === 'unknown') found.unknown.push(name);
  else if (decision.do === 'wait' || decision.do === 'remember') found.waiting.push(name);
  else if (decision.do === 'cancel job') found.cancelJobs.push({ ...missing, kind: 'job' });
  else if (decision.do === 'finalize') found.finalize.push({ ...missing, ...decision });
  if (dryRun) return;
  if (decision.do === 'remember') await records.setMissing(number, now());
  if (decision.do === 'forget') await records.setMissing(number, null);
  if (decision.do !== 'keep') return;
  const own = kind === 'job' ? job : cluster;
  const status = own?.description?.typedSearchAttributes.get(statusKey);
  if (status === undefined) return;
  const isRefreshed =
    kind === 'job'
      ? await refresh<JobView>(deps, store.jobs, row, status, jobMessages)
      : await refresh<ClusterView>(deps, store.clusters, row, status, clusterMessages);
  if (isRefreshed) found.refreshed.push(name);
}

/** Writes the view of a workflow that has been idle since before its row was restored from a backup, and so would not write it. */
async function refresh<V>(
  { client, now = Date.now }: ReconcileDeps,
  records: RecordStore<V>,
  row: OpenRecord,
  status: string,
  messages: { version: string; view: string },
): Promise<boolean> {
  const record = await records.find(row.workspace, row.number);
  if (record === null || record.status === status) return false;
  // In this order, so the view is at least as new as the version.
  const version = await queryOrNull<number>(client, workflowIdOf(row), messages.version);
  const view = await queryOrNull<V>(client, workflowIdOf(row), messages.view);
  if (version === null || view === null || version <= record.viewVersion) return false;
  await records.project({ view, version, nowMs: now() });
  return true;
}

async function finalizeOne(deps: ReconcileDeps, missing: MissingRecord & { release: boolean }): Promise<void> {
  const { store, objects, vault, now = Date.now } = deps;
  const spec = await readSpec<JobSpec | ClusterSpec>(objects, missing.specRef);
  if (missing.kind === 'job') {
    const jobSpec = spec !== null && !('caRef' in spec) ? spec : null;
    await finalize<JobView>(deps, store.jobs, missing, {
      query: jobMessages.view,
      isBlank: isBlankJob,
      unseen: (record) => jobOfRecord(record, jobSpec),
      end: (last, text) => endedJob(last, text, now()),
    });
  } else {
    await finalize<ClusterView>(deps, store.clusters, missing, {
      query: clusterMessages.view,
      isBlank: isBlankCluster,
      unseen: (record) => clusterOfRecord(record, spec),
      end: (last, text) => endedCluster(last, text, now()),
    });
  }
  for (const ref of spec === null ? [] : sealedRefs(spec)) await vault.delete(ref);
}

interface Finalizing<V> {
  query: string;
  /** True when its workflow never read its specification, so `unseen` contains more. */
  isBlank: (view: V) => boolean;
  /** Used when no view was ever written, and the workflow cannot be queried or knows less. */
  unseen: (record: StoredRecord<V>) => V;
  end: (last: V, text: string) => V;
}

async function finalize<V>(
  deps: ReconcileDeps,
  records: RecordStore<V>,
  { workspace, number, kind, release }: MissingRecord & { release: boolean },
  how: Finalizing<V>,
): Promise<void> {
  const record = await records.find(workspace, number);
  if (record === null) return;
  const workflowId = workflowIdOf({ kind, number });
  const view = await finalView<V>(deps.client, workflowId, record, how);
  await records.end({ view, version: record.viewVersion + 1, release, nowMs: (deps.now ?? Date.now)() });
}

/** Returns the result of the workflow if there is one; otherwise its newest available view, ended. */
async function finalView<V>(
  client: Client,
  workflowId: string,
  record: StoredRecord<V>,
  { query, isBlank, unseen, end }: Finalizing<V>,
): Promise<V> {
  if (record.state === 'ended' && record.view !== null) return record.view;
  const status = await statusOf(client, workflowId);
  if (status === 'COMPLETED') {
    return inTime(client, () => client.workflow.getHandle<() => Promise<V>>(workflowId).result());
  }
  // A closed workflow answers from a replay of its history.
  const found = await queryOrNull<V>(client, workflowId, query);
  const last = (found === null || isBlank(found) ? null : found) ?? record.view ?? unseen(record);
  return end(
    last,
    status === null
      ? `Temporal has no workflow ${workflowId} any more: it was deleted, or its namespace was lost`
      : `${workflowId} was ended from outside: ${status}`,
  );
}

async function statusOf(client: Client, workflowId: string): Promise<string | null> {
  try {
    return (await describeWorkflow(client, workflowId)).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
