// Database writes of workflows: their views and the usage of their quota reservations. And their reads: when the API last heard their agents.
import type { Client } from '@temporalio/client';

import type { RecordActivities } from '../contracts/activities.ts';
import { clusterMessages, type ClusterView, clusterWorkflowId } from '../contracts/cluster.ts';
import type { JobView } from '../contracts/job.ts';
import { listeningOfAllMs } from '../domain/liveness/replicas.ts';
import { keepForRetry } from '../platform/vault/keep-for-retry.ts';
import type { Vault } from '../platform/vault/vault.ts';
import type { RecordStore, Store } from '../store/store.ts';
import { inTime } from './presence.ts';

export interface RecordDeps {
  client: Client;
  store: Pick<Store, 'jobs' | 'clusters' | 'quotas' | 'liveness'>;
  vault: Pick<Vault, 'delete' | 'open' | 'seal'>;
  now?: () => number;
}

export function createRecordActivities({ client, store, vault, now = Date.now }: RecordDeps): RecordActivities {
  /** The workflow sets its final state before it requests the final write. */
  const viewCluster = (number: number): Promise<ClusterView> =>
    inTime(client, () => client.workflow.getHandle(clusterWorkflowId(number)).query<ClusterView>(clusterMessages.view));
  return {
    async writeView(input) {
      const { version, end } = input;
      if (input.kind === 'job') await write<JobView>(store.jobs, { view: input.view, version, end, nowMs: now() });
      else {
        const view = await viewCluster(input.number);
        await write<ClusterView>(store.clusters, { view, version, end, nowMs: now() });
      }
      for (const ref of end?.sealed ?? []) await vault.delete(ref);
      if (end?.retriable !== undefined) await keepForRetry(vault, end.retriable);
    },

    noteUsage: (usage) => store.quotas.noteUsage(usage),

    async readHeard({ cluster, instances }) {
      // The replicas first: writes between the two reads are newer reports, never silence.
      const listeningMs = listeningOfAllMs(await store.liveness.replicas());
      const rows = await store.liveness.read(cluster, instances);
      const heard = rows.map(({ instance, heardAtMs, sinceMs }) => ({ instance, heardAtMs, sinceMs }));
      return { heard, listeningMs };
    },
  };
}

const write = <V>(
  records: RecordStore<V>,
  { end, ...written }: { view: V; version: number; end: { release: boolean } | null; nowMs: number },
): Promise<void> => (end === null ? records.project(written) : records.end({ ...written, release: end.release }));
