// What is done about workflows that were ended from outside: a look at whether they are there, and for those that are not,
// the archive entry and the tidying that they could not do themselves. Everything here may be repeated.
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';

import { lookAtOnce } from '../domain/limits.ts';
import type { HolderSighting } from '../domain/workspace/reconcile.ts';
import type { Holder } from '../domain/workspace/state.ts';
import { archiveKey } from '../platform/archive-keys.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { Vault } from '../platform/vault/vault.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import { clusterMessages, clusterWorkflowId } from '../contracts/cluster.ts';
import type { ClusterView } from '../contracts/cluster.ts';
import { jobMessages, jobWorkflowId } from '../contracts/job.ts';
import type { JobView } from '../contracts/job.ts';
import type { EndedActivities } from '../contracts/activities.ts';
import { endedCluster, endedJob, unseenCluster, unseenJob } from './ended-views.ts';
import { heartbeating } from './heartbeating.ts';
import { describeWorkflow, presenceOf, queryOrNull } from './presence.ts';

export function createEndedActivities(deps: {
  client: Client;
  objects: Objects;
  vault: Pick<Vault, 'delete'>;
}): EndedActivities {
  const { client, objects } = deps;
  return {
    async lookAtHolders({ holders }) {
      return heartbeating(async () => {
        const sightings: HolderSighting[] = [];
        for (let from = 0; from < holders.length; from += lookAtOnce) {
          const batch = holders.slice(from, from + lookAtOnce);
          sightings.push(...(await Promise.all(batch.map((holder) => sightingOf(client, holder)))));
        }
        return { sightings };
      });
    },

    async whereWas({ specRef }) {
      const spec = await readSpec(objects, specRef);
      if (spec === null) return null;
      const { provider, providerQueue } = spec.settings;
      return { provider, providerQueue };
    },

    async archiveEnded({ workspace, holder, parts }) {
      const spec = await readSpec(objects, holder.specRef);
      const { number } = holder;
      if (parts.includes('job')) {
        await putIfMissing(objects, archiveKey(workspace, 'jobs', number), async () => {
          const how = await endingOf(client, jobWorkflowId(number));
          // What a closed workflow last knew, by replaying its history.
          const last = await queryOrNull<JobView>(client, jobWorkflowId(number), jobMessages.view);
          return endedJob(last ?? unseenJob(workspace, holder, spec), how, Date.now());
        });
      }
      if (parts.includes('cluster')) {
        await putIfMissing(objects, archiveKey(workspace, 'clusters', number), async () => {
          const how = await endingOf(client, clusterWorkflowId(number));
          const last = await queryOrNull<ClusterView>(client, clusterWorkflowId(number), clusterMessages.view);
          return endedCluster(last ?? unseenCluster(workspace, holder, spec), how, Date.now());
        });
      }
      if (!parts.includes(holder.kind)) return;
      const refs = spec === null ? [] : 'caRef' in spec ? [spec.bundleRef, spec.caRef] : [spec.bundleRef];
      for (const ref of refs) await deps.vault.delete(ref);
    },
  };
}

async function sightingOf(client: Client, { number, kind }: Pick<Holder, 'number' | 'kind'>): Promise<HolderSighting> {
  // The job first: a cluster that is still there when its job is over may only be on its way out.
  const job = kind === 'job' ? await presenceOf(client, jobWorkflowId(number)) : null;
  return { number, job, cluster: await presenceOf(client, clusterWorkflowId(number)) };
}

/** An entry that its own workflow has written says more than anything said here. */
async function putIfMissing(objects: Objects, key: string, make: () => Promise<object>): Promise<void> {
  if ((await objects.get(key)) !== null) return;
  await objects.put(key, new TextEncoder().encode(JSON.stringify(await make())));
}

async function endingOf(client: Client, workflowId: string): Promise<string> {
  try {
    return `${workflowId} was ended from outside: ${(await describeWorkflow(client, workflowId)).status.name}`;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return `${workflowId} is no longer known to Temporal`;
    throw error;
  }
}

/** The API validated it when it wrote it, before admission. */
async function readSpec(objects: Objects, specRef: string): Promise<JobSpec | ClusterSpec | null> {
  const bytes = await objects.get(specRef);
  if (bytes === null) return null;
  const spec: JobSpec | ClusterSpec = JSON.parse(new TextDecoder().decode(bytes));
  return spec;
}
