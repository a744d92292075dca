// How one reads. An open workflow is asked by query, at most once a second; a closed one is read from its result and
// then from the archive; a number that is reserved but not yet started reads as pending. While Temporal is away, what was
// last known is given with its time. Another workspace's number is answered exactly like one that does not exist.
import { RopewalkError } from '../domain/errors.ts';
import type { Holder } from '../domain/workspace/state.ts';
import { archiveKey } from '../platform/archive-keys.ts';
import { noMetrics, type ApiMetrics } from '../platform/metrics/api-metrics.ts';
import type { Objects } from '../platform/objects/objects.ts';
import { clusterSpec, type ClusterSpec } from '../schema/cluster-spec.ts';
import { jobSpec, type JobSpec } from '../schema/job-spec.ts';
import { clusterMessages, clusterWorkflowId, type ClusterView } from '../contracts/cluster.ts';
import { jobMessages, jobWorkflowId, type JobView } from '../contracts/job.ts';
import { workspaceMessages, workspaceWorkflowId, type WorkspaceView } from '../workflows/workspace/messages.ts';
import type { KeptWorkspaces } from './kept-workspaces.ts';
import { pendingCluster, pendingJob } from './pending-views.ts';
import { createViewCache, type Cached, type ReadSource } from './view-cache.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/** A view with the time since when it may be out of date, or null. */
export interface Viewed<T> {
  view: T;
  staleSinceMs: number | null;
}

export interface Views {
  /** Throws NOT_FOUND for what this workspace does not have. */
  job(workspace: string, number: number): Promise<Viewed<JobView>>;
  cluster(workspace: string, number: number, options?: { maxAgeMs?: number }): Promise<Viewed<ClusterView>>;
  /** null when there is no such workspace. */
  workspace(slug: string, maxAgeMs: number): Promise<Cached<WorkspaceView | null>>;
  /** The specification of an open job, or null; throws UNAVAILABLE while nobody can tell. */
  jobSpec(workspace: string, number: number): Promise<JobSpec | null>;
  /** The specification of an open Dask cluster, or null; throws UNAVAILABLE while nobody can tell. */
  clusterSpec(workspace: string, number: number): Promise<ClusterSpec | null>;
  /** Read anew next time: something was changed. */
  expire(number: number): void;
  expireWorkspace(slug: string): void;
}

export function createViews(ports: {
  workflows: WorkflowsPort;
  objects: Objects;
  now: () => number;
  metrics?: ApiMetrics;
  kept?: KeptWorkspaces | undefined;
}): Views {
  const { workflows, objects, now, metrics = noMetrics, kept } = ports;

  const workspaces = createViewCache<WorkspaceView | null>({
    now,
    maxEntries: maxCached,
    onRead: (source) => metrics.viewRead('workspace', source),
    load: async (slug) => {
      const startedAtMs = now();
      const read = await workflows.query<WorkspaceView>(workspaceWorkflowId(slug), workspaceMessages.view);
      if (read.kind !== 'value') return null;
      await kept?.keep(slug, read.value, startedAtMs);
      return read.value;
    },
    ...(kept === undefined ? {} : { recall: (slug: string) => kept.recall(slug) }),
  });

  const holderOf = async (workspace: string, number: number, maxAgeMs: number) => {
    const { value } = await workspaces.get(workspace, maxAgeMs);
    return value?.holders.find((holder) => holder.number === number) ?? null;
  };
  const jobSpecOf = async ({ specRef }: Holder): Promise<JobSpec | null> => {
    const text = await readText(objects, specRef);
    return text === null ? null : jobSpec.parse(JSON.parse(text));
  };
  const clusterSpecOf = async ({ specRef }: Holder): Promise<ClusterSpec | null> => {
    const text = await readText(objects, specRef);
    return text === null ? null : clusterSpec.parse(JSON.parse(text));
  };
  /** null only by a workspace that could be asked: what was said before an outage knows nothing of what began since. */
  const openHolder = async (workspace: string, number: number) => {
    const known = await holderOf(workspace, number, holderMaxAgeMs);
    if (known !== null) return known;
    const { value, isStale } = await workspaces.get(workspace, 0);
    const found = value?.holders.find((holder) => holder.number === number) ?? null;
    if (found === null && isStale) throw cannotTell(workspace, number);
    return found;
  };

  const isHeld =
    (holds: (holder: Holder) => boolean) =>
    async (workspace: string, number: number): Promise<boolean | undefined> => {
      const find = (view: WorkspaceView | null) =>
        view?.holders.some((holder) => holder.number === number && holds(holder)) ?? false;
      if (find((await workspaces.get(workspace, freshForMs)).value)) return true;
      const { value, isStale } = await workspaces.get(workspace, 0);
      return find(value) || (isStale ? undefined : false);
    };

  const jobs = createReader<JobView>({
    ...ports,
    isHeld: isHeld(({ kind: is }) => is === 'job'),
    onRead: (source) => metrics.viewRead('job', source),
    kind: 'jobs',
    workflowId: jobWorkflowId,
    query: jobMessages.view,
    pending: async (workspace, number, ended) => {
      const holder = await holderOf(workspace, number, 0);
      return holder?.kind === 'job' ? pendingJob(workspace, holder, await jobSpecOf(holder), ended, now()) : null;
    },
  });
  const clusters = createReader<ClusterView>({
    ...ports,
    isHeld: isHeld(() => true),
    onRead: (source) => metrics.viewRead('cluster', source),
    kind: 'clusters',
    workflowId: clusterWorkflowId,
    query: clusterMessages.view,
    pending: async (workspace, number, ended) => {
      const holder = await holderOf(workspace, number, 0);
      if (holder === null) return null;
      const spec = holder.kind === 'cluster' ? await clusterSpecOf(holder) : null;
      return pendingCluster(workspace, holder, spec, ended, now());
    },
  });

  return {
    async job(workspace, number) {
      const read = await jobs.read(workspace, number, freshForMs);
      // A job that has only just started has not read its specification yet: its reservation says more.
      if (read.view.tasks.total > 0 || read.staleSinceMs !== null) return read;
      const holder = await holderOf(workspace, number, freshForMs);
      if (holder === null) return read;
      return { ...read, view: pendingJob(workspace, holder, await jobSpecOf(holder), null, now()) };
    },
    async cluster(workspace, number, { maxAgeMs = freshForMs } = {}) {
      const read = await clusters.read(workspace, number, maxAgeMs);
      // So has a Dask cluster; a job's one is told everything when it is started.
      const { status, job, dask } = read.view;
      if (status !== 'pending' || job !== null || dask !== null || read.staleSinceMs !== null) return read;
      const holder = await holderOf(workspace, number, freshForMs);
      if (holder?.kind !== 'cluster') return read;
      return { ...read, view: pendingCluster(workspace, holder, await clusterSpecOf(holder), null, now()) };
    },
    workspace: (slug, maxAgeMs) => workspaces.get(slug, maxAgeMs),
    async jobSpec(workspace, number) {
      const known = await openHolder(workspace, number);
      return known?.kind === 'job' ? jobSpecOf(known) : null;
    },
    async clusterSpec(workspace, number) {
      const known = await openHolder(workspace, number);
      return known?.kind === 'cluster' ? clusterSpecOf(known) : null;
    },
    expire(number) {
      jobs.expire(number);
      clusters.expire(number);
    },
    expireWorkspace: (slug) => workspaces.expire(slug),
  };
}

const cannotTell = (workspace: string, number: number) =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: `Workspace ${workspace} does not answer, so it is not known whether ${number} is open.`,
      hint: 'Try again after the time given in Retry-After.',
    },
    { retryAfterMs: 1_000 },
  );

const freshForMs = 1_000;
const holderMaxAgeMs = 5_000;
const maxCached = 2_000;

interface ReaderOptions<T> {
  onRead: (source: ReadSource) => void;
  workflows: WorkflowsPort;
  objects: Objects;
  now: () => number;
  kind: 'jobs' | 'clusters';
  workflowId: (number: number) => string;
  query: string;
  /** Whether the workspace holds this number; undefined while nobody can tell. */
  isHeld: (workspace: string, number: number) => Promise<boolean | undefined>;
  /** What the workspace's reservation tells; `ended` says how the workflow ended if it left no result. */
  pending: (workspace: string, number: number, ended: string | null) => Promise<T | null>;
}

/** A closed workflow without a result, or none at all, is remembered as such too. */
type Live<T> = { kind: 'view'; view: T } | { kind: 'none'; ended: string | null };

function createReader<T extends { workspace: string }>(options: ReaderOptions<T>) {
  const { workflows, objects, kind, workflowId, now } = options;

  const live = createViewCache<Live<T>>({
    now,
    onRead: options.onRead,
    maxEntries: maxCached,
    load: async (key) => {
      const read = await workflows.query<T>(key, options.query);
      if (read.kind === 'value') return { kind: 'view', view: read.value };
      if (read.kind === 'missing') return { kind: 'none', ended: null };
      const result = await workflows.result<T>(key);
      if (result.kind === 'value') return { kind: 'view', view: result.value };
      return { kind: 'none', ended: result.kind === 'failed' ? result.text : null };
    },
  });
  const archived = createViewCache<T | null>({
    now,
    maxEntries: maxCached,
    load: async (key) => readOwn<T>(await objects.get(key)),
  });

  const fromArchive = async (workspace: string, number: number, maxAgeMs = freshForMs): Promise<Viewed<T> | null> => {
    const { value } = await archived.get(archiveKey(workspace, kind, number), maxAgeMs);
    return value === null ? null : { view: value, staleSinceMs: null };
  };

  /** Asked last: what its workspace holds no more has been archived before, and that may have been a moment ago. */
  const justArchived = (workspace: string, number: number): Promise<Viewed<T> | null> =>
    fromArchive(workspace, number, 0);

  const isOwn = async (workspace: string, number: number): Promise<boolean | undefined> => {
    const known = live.peek(workflowId(number));
    if (known?.kind === 'view' && known.view.workspace === workspace) return true;
    if ((await fromArchive(workspace, number)) !== null) return true;
    const isHeld = await options.isHeld(workspace, number);
    return isHeld === false ? (await justArchived(workspace, number)) !== null : isHeld;
  };

  return {
    expire: (number: number) => live.expire(workflowId(number)),

    async read(workspace: string, number: number, maxAgeMs: number): Promise<Viewed<T>> {
      // Before anything is asked of it: what is another workspace's takes no other time than what is not there.
      if ((await isOwn(workspace, number)) === false) throw notFound(kind, number);
      let known: Cached<Live<T>>;
      try {
        known = await live.get(workflowId(number), maxAgeMs);
      } catch (error) {
        // What is over lies in the archive and can be read while Temporal is away.
        const over = await fromArchive(workspace, number);
        if (over === null) throw error;
        return over;
      }
      const { value, isStale, readAtMs } = known;
      if (value.kind === 'view') {
        if (value.view.workspace !== workspace) throw notFound(kind, number);
        // It may have ended since: then the archive knows more than what Temporal said last.
        const over = isStale ? await fromArchive(workspace, number) : null;
        if (over !== null) return over;
        return { view: value.view, staleSinceMs: isStale ? readAtMs : null };
      }
      const over = await fromArchive(workspace, number);
      if (over !== null) return over;
      const pending = await options.pending(workspace, number, value.ended);
      if (pending !== null) return { view: pending, staleSinceMs: isStale ? readAtMs : null };
      const justOver = await justArchived(workspace, number);
      if (justOver === null) throw notFound(kind, number);
      return justOver;
    },
  };
}

async function readText(objects: Objects, key: string): Promise<string | null> {
  const bytes = await objects.get(key);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

/** The archive is written by our own activities from the same types, and nobody else may write there. */
function readOwn<T>(bytes: Uint8Array | null): T | null {
  if (bytes === null) return null;
  const value: T = JSON.parse(Buffer.from(bytes).toString('utf8'));
  return value;
}

const notFound = (kind: 'jobs' | 'clusters', number: number) =>
  new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no ${kind.slice(0, -1)} ${number} in this workspace.`,
    hint: `GET /v1/${kind} lists the ones there are.`,
  });
