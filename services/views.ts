// Reads one job or cluster. Its row is found first, by workspace and number: another workspace's number is not distinguished from a missing one. An
// ended job or cluster is its row. An open one is its workflow's answer to a query, at most a second old; while Temporal is unavailable, it is the
// row with the time of its last write. Lists read only rows.
import { clusterMessages, clusterWorkflowId, type ClusterView } from '../contracts/cluster.ts';
import { jobMessages, jobWorkflowId, type JobView } from '../contracts/job.ts';
import { RopewalkError } from '../domain/errors.ts';
import type { Reason } from '../domain/reason.ts';
import { noMetrics, type ApiMetrics } from '../platform/metrics/api-metrics.ts';
import type { Objects } from '../platform/objects/objects.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { Store, StoredRecord } from '../store/store.ts';
import { clusterOfRecord, clusterRecordOfJob, isBlankCluster } from '../views/cluster.ts';
import { isBlankJob, jobOfRecord } from '../views/job.ts';
import type { DamageReport } from './damaged-objects.ts';
import { createLiveViews, type Live, type LiveViews } from './live-views.ts';
import { createSpecs } from './specs.ts';
import { isUnavailable } from './unavailable.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/** A view with its row, and the time since when it may be outdated, or null. */
export interface Viewed<V> {
  view: V;
  staleSinceMs: number | null;
  record: StoredRecord<V>;
}

export interface Views {
  /** Throws NOT_FOUND for a number that is not in this workspace. */
  job(workspace: string, number: number): Promise<Viewed<JobView>>;
  cluster(workspace: string, number: number): Promise<Viewed<ClusterView>>;
  /** From its row, without Temporal. */
  jobRow(workspace: string, number: number): Promise<Viewed<JobView>>;
  clusterRow(workspace: string, number: number): Promise<Viewed<ClusterView>>;
  /** From a row that was already read, and the job's specification. */
  jobOfRow(record: StoredRecord<JobView>): Promise<JobView>;
  /** For agents, whose token proves their right; reads the database only after the workflow has ended. */
  jobOfAgent(workspace: string, number: number): Promise<JobView>;
  clusterOfAgent(workspace: string, number: number, maxAgeMs: number): Promise<ClusterView>;
  /** The specification of an open job, or null. */
  jobSpec(workspace: string, number: number): Promise<JobSpec | null>;
  /** Includes ended jobs. */
  endedJobSpec(workspace: string, number: number): Promise<JobSpec | null>;
  /** Includes ended Dask clusters. */
  endedClusterSpec(workspace: string, number: number): Promise<ClusterSpec | null>;
  /** The specification of an open Dask cluster, or null. */
  clusterSpec(workspace: string, number: number): Promise<ClusterSpec | null>;
  /** Called after a change: the next read queries the workflow again. */
  expire(number: number): void;
}

export function createViews(ports: {
  store: Pick<Store, 'jobs' | 'clusters'>;
  workflows: WorkflowsPort;
  objects: Pick<Objects, 'get'>;
  now: () => number;
  monotonicMs: () => number;
  damaged: DamageReport;
  metrics?: ApiMetrics;
}): Views {
  const { store, workflows, objects, now, monotonicMs, damaged, metrics = noMetrics } = ports;
  const specs = createSpecs(objects, damaged);

  const findJob = async (workspace: string, number: number) =>
    orNotFound(await store.jobs.find(workspace, number), 'job', number);
  const findCluster = async (workspace: string, number: number): Promise<StoredRecord<ClusterView>> => {
    const known = await store.clusters.find(workspace, number);
    if (known !== null) return known;
    return orNotFound(clusterRecordOfJob(await store.jobs.find(workspace, number)), 'cluster', number);
  };

  const jobs = createReader<JobView>({
    find: findJob,
    live: createLiveViews({
      workflows,
      now: monotonicMs,
      workflowId: jobWorkflowId,
      query: jobMessages.view,
      onRead: (source) => metrics.viewRead('job', source),
    }),
    pending: async (record) => jobOfRecord(record, await specs.job(record.specRef)),
    isBlank: isBlankJob,
    failed: (view, reason) => ({ ...view, status: 'error', reason }),
    onStale: () => metrics.viewRead('job', 'stale'),
    now,
  });
  const clusters = createReader<ClusterView>({
    find: findCluster,
    live: createLiveViews({
      workflows,
      now: monotonicMs,
      workflowId: clusterWorkflowId,
      query: clusterMessages.view,
      onRead: (source) => metrics.viewRead('cluster', source),
    }),
    pending: async (record) =>
      clusterOfRecord(record, await (record.job === null ? specs.cluster(record.specRef) : specs.job(record.specRef))),
    isBlank: isBlankCluster,
    failed: (view, reason) => ({ ...view, status: 'error', reason }),
    onStale: () => metrics.viewRead('cluster', 'stale'),
    now,
  });

  return {
    job: (workspace, number) => jobs.read(workspace, number),
    cluster: (workspace, number) => clusters.read(workspace, number),
    jobRow: (workspace, number) => jobs.readRow(workspace, number),
    jobOfRow: (record) => jobs.ofRow(record),
    clusterRow: (workspace, number) => clusters.readRow(workspace, number),
    jobOfAgent: (workspace, number) => jobs.readForAgent(workspace, number, freshForMs),
    clusterOfAgent: (workspace, number, maxAgeMs) => clusters.readForAgent(workspace, number, maxAgeMs),
    async jobSpec(workspace, number) {
      const record = await store.jobs.find(workspace, number);
      return record === null || record.state === 'ended' ? null : specs.job(record.specRef);
    },
    async endedJobSpec(workspace, number) {
      const record = await store.jobs.find(workspace, number);
      return record === null ? null : specs.job(record.specRef);
    },
    async endedClusterSpec(workspace, number) {
      const record = await store.clusters.find(workspace, number);
      return record === null || record.job !== null ? null : specs.cluster(record.specRef);
    },
    async clusterSpec(workspace, number) {
      const record = await store.clusters.find(workspace, number);
      const isOpen = record !== null && record.state !== 'ended' && record.job === null;
      return isOpen ? specs.cluster(record.specRef) : null;
    },
    expire(number) {
      jobs.expire(number);
      clusters.expire(number);
    },
  };
}

const freshForMs = 1_000;

interface ReaderOptions<V> {
  /** Throws NOT_FOUND. */
  find: (workspace: string, number: number) => Promise<StoredRecord<V>>;
  live: LiveViews<V>;
  /** Used before its workflow has written anything. */
  pending: (record: StoredRecord<V>) => Promise<V>;
  /** True when the workflow has not read its specification, so `pending` contains more. */
  isBlank: (view: V) => boolean;
  /** Its workflow ended without a result. */
  failed: (view: V, reason: Reason) => V;
  /** The workflow did not answer, and an older view is returned. */
  onStale: () => void;
  now: () => number;
}

function createReader<V extends { workspace: string }>(options: ReaderOptions<V>) {
  const { find, live, pending, isBlank, failed, onStale, now } = options;

  const ofRow = async (record: StoredRecord<V>): Promise<V> => record.view ?? (await pending(record));

  const fromRow = async (record: StoredRecord<V>, staleSinceMs: number | null): Promise<Viewed<V>> => ({
    view: await ofRow(record),
    staleSinceMs,
    record,
  });

  const fromLive = async (record: StoredRecord<V>, answer: Live<V>): Promise<Viewed<V>> => {
    if (answer.kind === 'view') {
      const view = isBlank(answer.view) ? await pending(record) : answer.view;
      return { view, staleSinceMs: null, record };
    }
    // It may have ended since its row was read: its last write precedes its end.
    const again = await find(record.workspace, record.number);
    if (again.state === 'ended') return fromRow(again, null);
    const read = await fromRow(again, again.viewAtMs);
    if (answer.kind === 'missing') return read;
    const text = `Its workflow ended without a result: ${answer.text}.`;
    return { ...read, view: failed(read.view, { code: 'ENDED_FROM_OUTSIDE', text, atMs: now() }), staleSinceMs: null };
  };

  return {
    expire: (number: number) => live.expire(number),

    ofRow,

    async read(workspace: string, number: number): Promise<Viewed<V>> {
      const record = await find(workspace, number);
      if (record.state !== 'open') return fromRow(record, null);
      try {
        return await fromLive(record, await live.get(number, freshForMs));
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        onStale();
        return fromRow(record, writtenAtMs(record));
      }
    },

    async readRow(workspace: string, number: number): Promise<Viewed<V>> {
      const record = await find(workspace, number);
      return fromRow(record, record.state === 'open' ? writtenAtMs(record) : null);
    },

    async readForAgent(workspace: string, number: number, maxAgeMs: number): Promise<V> {
      try {
        const answer = await live.get(number, maxAgeMs);
        if (answer.kind === 'view' && answer.view.workspace === workspace) return answer.view;
      } catch (error) {
        const last = live.peek(number);
        if (!isUnavailable(error) || last === null || last.workspace !== workspace) throw error;
        onStale();
        return last;
      }
      return (await this.read(workspace, number)).view;
    },
  };
}

const writtenAtMs = ({ viewAtMs, createdAtMs }: StoredRecord<unknown>): number => viewAtMs ?? createdAtMs;

function orNotFound<T>(record: T | null, kind: 'job' | 'cluster', number: number): T {
  if (record !== null) return record;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no ${kind} ${number} in this workspace.`,
    hint: `\`ropewalk ${kind === 'job' ? 'batch' : 'cluster'} list\` or GET /v1/${kind}s lists the ones there are.`,
  });
}
