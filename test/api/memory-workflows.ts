// A stand-in for Temporal: workflows that live in memory and run the real rules of domain/. It can be away, and its
// workflows can be started, ended and forgotten by the test.
import type { UpdateOutcome, WorkflowsPort } from '../../services/workflows-port.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { adaptCluster, keepAlive } from '../../domain/cluster/dask.ts';
import { scaleCluster, stopCluster } from '../../domain/cluster/requests.ts';
import type { ClusterSettings, ClusterState } from '../../domain/cluster/state.ts';
import { createDeploymentState, createWorkspace } from '../../domain/deployment/rules.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { parseArray } from '../../domain/job/array.ts';
import { createJobState } from '../../domain/job/create.ts';
import { cancelJob } from '../../domain/job/events.ts';
import { exchange } from '../../domain/job/exchange.ts';
import type { ExchangeItem } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';
import { openTasks } from '../../domain/job/view.ts';
import { admit } from '../../domain/workspace/admit.ts';
import { createWorkspaceState } from '../../domain/workspace/create.ts';
import { footprintToTell } from '../../domain/cluster/footprint.ts';
import { noteFootprint, reserveShare, settleShare } from '../../domain/workspace/shares.ts';
import type { AdmitItem, WorkspaceState } from '../../domain/workspace/state.ts';
import { issueToken, revokeToken } from '../../domain/workspace/tokens.ts';
import { configure, putUser, removeUser } from '../../domain/workspace/users.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { clusterSpec } from '../../schema/cluster-spec.ts';
import { jobSpec } from '../../schema/job-spec.ts';
import {
  clusterMessages,
  type AdaptSignal,
  type ClusterInput,
  type KeepaliveSignal,
  type ReportItem,
  type ScaleSignal,
  type StopSignal,
} from '../../contracts/cluster.ts';
import { report } from '../../workflows/cluster/report.ts';
import { viewCluster } from '../../workflows/cluster/view.ts';
import { jobMessages, type CancelSignal, type TasksQueryInput } from '../../contracts/job.ts';
import { viewJob } from '../../workflows/job/view.ts';
import { deploymentMessages, type CreateWorkspaceItem } from '../../workflows/deployment/messages.ts';
import type { Flush } from '../../contracts/flush.ts';
import {
  workspaceMessages,
  type ConfigureItem,
  type IssueTokenItem,
  type PutUserItem,
  type RemoveUserItem,
  type RevokeTokenItem,
  type ShareItem,
} from '../../workflows/workspace/messages.ts';

interface Open {
  update?: (name: string, item: unknown) => unknown;
  query: (name: string, input: unknown) => unknown;
  signal?: (name: string, input: unknown) => void;
}

export function createMemoryWorkflows(objects: Objects, now: () => number) {
  const open = new Map<string, Open>();
  const closed = new Map<string, { result: unknown } | { failed: string }>();
  const workspaces = new Map<string, WorkspaceState>();
  const jobs = new Map<number, JobState>();
  const clusters = new Map<number, ClusterState>();
  const calls: string[] = [];
  const control = { isAway: false, loseNextAnswer: false };

  const called = (what: string): void => {
    calls.push(what);
    if (control.isAway) throw away();
  };
  const gone = (id: string) => ({ kind: closed.has(id) ? 'closed' : 'missing' }) as const;

  const port = {
    async update(id: string, name: string, input: Flush<unknown>): Promise<UpdateOutcome<unknown>> {
      called(`update ${id} ${name}`);
      const workflow = open.get(id);
      if (workflow?.update === undefined) return gone(id);
      const { update } = workflow;
      const value = overTheWire({ items: input.items.map((item) => update(name, item)) });
      if (control.loseNextAnswer) {
        control.loseNextAnswer = false;
        throw away();
      }
      return { kind: 'done', value };
    },
    async query(id: string, name: string, input?: unknown) {
      called(`query ${id} ${name}`);
      const workflow = open.get(id);
      return workflow === undefined ? gone(id) : { kind: 'value', value: overTheWire(workflow.query(name, input)) };
    },
    async signal(id: string, name: string, input: unknown) {
      called(`signal ${id} ${name}`);
      const workflow = open.get(id);
      if (workflow === undefined) return gone(id);
      workflow.signal?.(name, input);
      return { kind: 'sent' };
    },
    async result(id: string) {
      called(`result ${id}`);
      const ended = closed.get(id);
      if (ended === undefined) return { kind: 'missing' };
      return 'failed' in ended ? { kind: 'failed', text: ended.failed } : { kind: 'value', value: ended.result };
    },
    isReachable: async () => !control.isAway,
  };

  const openCluster = (input: Omit<ClusterInput, 'settings'>, settings: ClusterSettings): void => {
    const { number, workspace, user } = input;
    const cluster = createClusterState({ number, workspace, user, createdAtMs: now() }, settings);
    clusters.set(number, cluster);
    open.set(`cluster/${number}`, {
      update: (_name, item) => report(cluster, trusted<ReportItem>(item)),
      query: () => viewCluster(cluster, { ...input, settings }),
      signal: (name, signal) => {
        signalCluster(cluster, name, signal, now());
        const footprint = footprintToTell(cluster);
        const state = workspaces.get(workspace);
        if (footprint !== null && state !== undefined) noteFootprint(state, footprint);
      },
    });
  };

  const addWorkspace = (slug: string): WorkspaceState => {
    const state = createWorkspaceState({ slug, deploymentId: 'd', createdAtMs: now(), block: { next: 1, end: 999 } });
    workspaces.set(slug, state);
    open.set(`workspace/${slug}`, {
      update: (name, item) => updateWorkspace(state, name, item, now()),
      query: () => state,
    });
    return state;
  };
  const deployment = createDeploymentState('d', now());
  open.set('deployment', {
    update: (name, item) => {
      if (name !== deploymentMessages.createWorkspace) throw new Error(`the deployment knows no ${name}`);
      const made = createWorkspace(deployment, trusted<CreateWorkspaceItem>(item).slug, now());
      if ('ok' in made && !made.ok.existing) addWorkspace(made.ok.slug);
      return made;
    },
    query: () => ({
      deploymentId: 'd',
      workspaces: Object.keys(deployment.workspaces),
      createdAtMs: Object.fromEntries(
        Object.entries(deployment.workspaces).map(([slug, { createdAtMs }]) => [slug, createdAtMs]),
      ),
      nextNumber: deployment.nextNumber,
    }),
  });

  return {
    port: asPort(port),
    control,
    calls,
    workspaces,
    jobs,
    clusters,

    addWorkspace,

    /** What the workspace's loop and the new workflows do after admission. */
    async startHolder(slug: string, number: number): Promise<void> {
      const holder = workspaces.get(slug)?.holders.find((each) => each.number === number);
      if (holder === undefined) throw new Error(`${slug} holds no ${number}`);
      const text = Buffer.from((await objects.get(holder.specRef)) ?? []).toString();
      const owner = { number, workspace: slug, user: holder.user, deploymentId: 'd', admissionId: holder.admissionId };
      if (holder.kind === 'cluster') {
        const { settings, bundleRef, caRef } = clusterSpec.parse(JSON.parse(text));
        const dask = { ...settings.dask, bundleRef, caRef };
        openCluster({ ...owner, name: holder.name, specRef: holder.specRef }, { ...settings, name: holder.name, dask });
        return;
      }
      const settings = { ...jobSpec.parse(JSON.parse(text)).settings, name: holder.name };
      const job = createJobState({ ...owner, submittedAtMs: now() }, settings);
      jobs.set(number, job);
      const array = parseArray(settings.array);
      const { name, specRef, privateToCreator = false } = holder;
      const jobInput = { ...owner, name, specRef, privateToCreator };
      open.set(`job/${number}`, {
        update: (_name, item) => ({
          ok: exchange(job, trusted<ExchangeItem>(item), now(), (index) => array.idAt(index)),
        }),
        query: (name, input) => (name === jobMessages.view ? viewJob(job, jobInput) : viewTasks(job, input)),
        signal: (_name, input) => cancelJob(job, { ...trusted<CancelSignal>(input), atMs: now() }),
      });
      const clusterSettings = { ...settings, job: number, registerTimeoutMs: 1_000, dask: null };
      openCluster({ ...owner, name: holder.name, specRef: null }, clusterSettings);
    },

    end(id: string, ending: { result: unknown } | { failed: string }): void {
      open.delete(id);
      closed.set(id, ending);
    },
    forget(id: string): void {
      open.delete(id);
      closed.delete(id);
    },
  };
}

export type MemoryWorkflows = ReturnType<typeof createMemoryWorkflows>;

const away = () => new RopewalkError({ code: 'UNAVAILABLE', message: 'away' }, { retryAfterMs: 1_000 });

/** As plain JSON, so that nothing is shared by reference. */
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** What tests send comes from the services' own typed calls. */
const trusted = <T>(value: unknown): T => value as T;

/** The port's generics name what each message answers; here the messages are told apart by name at run time. */
const asPort = (port: object): WorkflowsPort => port as WorkflowsPort;

function viewTasks(job: JobState, input: unknown) {
  const { from, count } = trusted<TasksQueryInput>(input);
  const { taskCount, array } = job.settings;
  return { taskCount, array, pagesWritten: job.pagesWritten, page: job.page, open: openTasks(job, from, count) };
}

function signalCluster(cluster: ClusterState, name: string, input: unknown, nowMs: number): void {
  if (name === clusterMessages.stop) stopCluster(cluster, { ...trusted<StopSignal>(input), atMs: nowMs });
  else if (name === clusterMessages.scale) {
    const { instances, ...asked } = trusted<ScaleSignal>(input);
    scaleCluster(cluster, instances, nowMs, asked);
  } else if (name === clusterMessages.adapt) {
    const { adaptive, ...asked } = trusted<AdaptSignal>(input);
    adaptCluster(cluster, adaptive, nowMs, asked);
  } else if (name === clusterMessages.keepalive) {
    keepAlive(cluster, trusted<KeepaliveSignal>(input).noClientTimeoutMs, nowMs);
  } else throw new Error(`a cluster knows no signal ${name}`);
}

function updateWorkspace(state: WorkspaceState, name: string, item: unknown, nowMs: number): unknown {
  if (name === workspaceMessages.admit) return admit(state, trusted<AdmitItem>(item), nowMs);
  if (name === workspaceMessages.issueToken) return issueToken(state, trusted<IssueTokenItem>(item), nowMs);
  if (name === workspaceMessages.putUser) return putUser(state, trusted<PutUserItem>(item), nowMs);
  if (name === workspaceMessages.removeUser) return removeUser(state, trusted<RemoveUserItem>(item), nowMs);
  if (name === workspaceMessages.revokeToken) {
    const { id, by } = trusted<RevokeTokenItem>(item);
    return revokeToken(state, id, nowMs, by);
  }
  if (name === workspaceMessages.configure) {
    const { limits, by = null, perUser } = trusted<ConfigureItem>(item);
    return configure(state, limits, { by, nowMs, ...(perUser === undefined ? {} : { perUser }) });
  }
  if (name !== workspaceMessages.share) throw new Error(`a workspace knows no ${name}`);
  const change = trusted<ShareItem>(item);
  return change.do === 'reserve' ? reserveShare(state, change.share) : settleShare(state, change.share);
}
