// Adopts workflows without a row, after a restore of an older database: each gets its row, name and reservation back, and the numbers of all
// workflows are reserved.
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';

import type { ReconcileActivities } from '../contracts/activities.ts';
import { type ClusterInput, clusterMessages, type ClusterView } from '../contracts/cluster.ts';
import { type JobInput, jobMessages, type JobView } from '../contracts/job.ts';
import { workspaceKey } from '../contracts/search-attributes.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { Store } from '../store/store.ts';
import type { RecordKind, Startable } from '../store/admission-port.ts';
import { heartbeating } from './heartbeating.ts';
import { inParallel, listedWorkflows, openRecords, workflowIdOf } from './open-workflows.ts';
import { inTime, lookUp, presenceOf, queryOrNull } from './presence.ts';
import { readSpec } from './specs.ts';

export interface AdoptDeps {
  client: Client;
  store: Pick<Store, 'jobs' | 'clusters' | 'deployment'>;
  objects: Objects;
}

interface Found {
  kind: RecordKind;
  number: number;
  workspace: string;
}

export function createAdoptActivities(deps: AdoptDeps): Pick<ReconcileActivities, 'adoptWorkflows'> {
  return {
    adoptWorkflows: ({ dryRun }) =>
      heartbeating(async () => {
        const adopted: string[] = [];
        const unknown: string[] = [];
        const found = await withoutRow(deps);
        // Jobs first: a job's cluster gets its specification and privacy from the job's row.
        for (const kind of ['job', 'cluster'] as const) {
          const ofKind = found.filter((each) => each.kind === kind);
          await inParallel(ofKind, async (each) => {
            const outcome = await adoptOne(deps, each, dryRun).catch(() => 'unknown' as const);
            if (outcome === 'adopted') adopted.push(workflowIdOf(each));
            if (outcome === 'unknown') unknown.push(workflowIdOf(each));
          });
        }
        if (!dryRun) await reserveNumbers(deps);
        return { adopted, unknown };
      }),
  };
}

/** Lists them from visibility, which lags, so each is looked up before anything is changed. */
async function withoutRow({ client, store }: AdoptDeps): Promise<Found[]> {
  const open = new Set<string>();
  for await (const page of openRecords(store)) for (const row of page) open.add(workflowIdOf(row));
  const found: Found[] = [];
  for await (const { kind, number, execution } of listedWorkflows(client)) {
    const workspace = execution.typedSearchAttributes.get(workspaceKey);
    if (workspace === undefined || open.has(execution.workflowId)) continue;
    const row = await (kind === 'job' ? store.jobs : store.clusters).find(workspace, number);
    if (row === null) found.push({ kind, number, workspace });
  }
  return found;
}

async function adoptOne(deps: AdoptDeps, found: Found, dryRun: boolean): Promise<'adopted' | 'unknown' | 'not open'> {
  const { client, store } = deps;
  const workflowId = workflowIdOf(found);
  const { presence, description } = await lookUp(client, workflowId);
  if (presence !== 'open' || description === null) return presence === 'unknown' ? 'unknown' : 'not open';
  const input = await inputOf(client, workflowId, description.runId);
  if (input === null) return 'unknown';
  const { number, workspace, name, user, admissionId } = input;
  const common = { number, workspace, name, user, admissionId };
  if (found.kind === 'job') {
    const view = await queryOrNull<JobView>(client, workflowId, jobMessages.view);
    if (view === null) return 'unknown';
    if (dryRun) return 'adopted';
    const row = { specRef: input.specRef ?? '', privateToCreator: view.privateToCreator };
    const startable: Startable = { kind: 'job', ...common, ...row, admittedAtMs: view.submittedAtMs };
    await store.jobs.adopt({ ...startable, view, vcpus: await vcpusOf(deps, row.specRef, view.instances) });
    return 'adopted';
  }
  const view = await queryOrNull<ClusterView>(client, workflowId, clusterMessages.view);
  if (view === null) return 'unknown';
  if (dryRun) return 'adopted';
  const job = view.job === null ? null : await store.jobs.find(workspace, view.job);
  const specRef = input.specRef ?? job?.specRef ?? '';
  const row = { specRef, privateToCreator: view.dask?.privateToCreator ?? job?.privateToCreator ?? true };
  const startable: Startable = { kind: 'cluster', ...common, ...row, admittedAtMs: view.createdAtMs };
  await store.clusters.adopt({ ...startable, view, vcpus: await vcpusOf(deps, specRef, view.target) });
  return 'adopted';
}

/** The workflow's input, from the first event of its run. */
async function inputOf(client: Client, workflowId: string, runId: string): Promise<JobInput | ClusterInput | null> {
  const { namespace } = client.options;
  const { history } = await inTime(client, () =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    }),
  );
  const payload: Payload | undefined =
    history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return payload === undefined ? null : defaultPayloadConverter.fromPayload<JobInput | ClusterInput>(payload);
}

async function vcpusOf({ objects }: AdoptDeps, specRef: string, instances: number): Promise<number> {
  const spec = specRef === '' ? null : await readSpec<JobSpec | ClusterSpec>(objects, specRef);
  return instances * (spec?.settings.instanceVcpus ?? 1);
}

/**
 * Includes numbers of closed workflows, because their ids are taken. Numbers are assigned in order, so the search ends after that many consecutive
 * free ones.
 */
async function reserveNumbers({ client, store }: AdoptDeps): Promise<void> {
  const { nextNumber } = (await store.deployment.read()) ?? { nextNumber: 1 };
  let taken = nextNumber - 1;
  for (let from = nextNumber; from <= taken + freeInARow; from += freeInARow) {
    const numbers = Array.from({ length: freeInARow }, (_, at) => from + at);
    await inParallel(numbers, async (number) => {
      const ids = (['job', 'cluster'] as const).map((kind) => workflowIdOf({ kind, number }));
      const found = await Promise.all(ids.map((id) => presenceOf(client, id)));
      if (found.includes('unknown')) throw new Error(`Temporal did not say whether ${ids.join(' or ')} exists`);
      if (found.some((presence) => presence !== 'not found')) taken = Math.max(taken, number);
    });
  }
  if (taken >= nextNumber) await store.deployment.reserveNumbersTo(taken);
}

const freeInARow = 20;
