// A stand-in for Temporal: workflows of jobs and clusters in memory, which run the real rules of domain/ and write their views to
// the database. It can be unavailable, and tests end its workflows or make it forget them.
import {
  clusterMessages,
  type AdaptSignal,
  type ClusterInput,
  type ClusterView,
  type HoldSignal,
  type KeepaliveSignal,
  type ReportItem,
  type ScaleSignal,
  type StopSignal,
  type SuspectSignal,
} from '../../contracts/cluster.ts';
import type { Flush } from '../../contracts/flush.ts';
import {
  jobMessages,
  type CancelSignal,
  type CancelTasksSignal,
  type JobInput,
  type JobView,
  type TasksQueryInput,
} from '../../contracts/job.ts';
import type { WorkflowStart } from '../../contracts/start.ts';
import { suspectInstances } from '../../domain/cluster/instance/inspect.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { adaptCluster } from '../../domain/cluster/dask/adaptive.ts';
import { keepAlive } from '../../domain/cluster/dask/report.ts';
import { usageToNote } from '../../domain/cluster/usage.ts';
import { holdLaunches, scaleCluster, stopCluster } from '../../domain/cluster/requests.ts';
import type { ClusterSettings, ClusterState } from '../../domain/cluster/state.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { readStoredArray } from '../../domain/job/stored-array.ts';
import { createJobState } from '../../domain/job/create.ts';
import { cancelMarked, markTasks } from '../../domain/job/cancel-tasks.ts';
import { cancelJob } from '../../domain/job/events.ts';
import { exchange } from '../../domain/job/exchange.ts';
import type { ExchangeItem } from '../../domain/job/protocol.ts';
import type { JobState } from '../../domain/job/state.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { clusterSpec } from '../../schema/cluster-spec.ts';
import { jobSpec } from '../../schema/job-spec.ts';
import type { StartOutcome, UpdateOutcome, WorkflowsPort } from '../../services/workflows-port.ts';
import type { Store } from '../../store/store.ts';
import { report } from '../../workflows/cluster/report.ts';
import { viewCluster } from '../../views/cluster.ts';
import { viewAllTasks, viewJob, viewTasks } from '../../views/job.ts';

interface Open {
  update: (item: unknown) => unknown;
  query: (name: string, input: unknown) => unknown;
  signal: (name: string, input: unknown) => void;
  /** Writes the workflow's view to the database. */
  project: () => Promise<void>;
}

export function createMemoryWorkflows(ports: { store: Store; objects: Objects; now: () => number }) {
  const { store, objects, now } = ports;
  const open = new Map<string, Open>();
  const closed = new Map<string, { result: unknown } | { failed: string }>();
  const admissions = new Map<string, string>();
  const jobs = new Map<number, JobState>();
  const clusters = new Map<number, ClusterState>();
  const calls: string[] = [];
  const starts: string[] = [];
  /** Without `isProjecting`, views are not written: as while the database is unavailable to the activities. */
  const control = { isUnavailable: false, isProjecting: true };

  const called = (what: string): void => {
    calls.push(what);
    if (control.isUnavailable) throw unavailable();
  };
  const gone = (id: string) => ({ kind: closed.has(id) ? 'closed' : 'missing' }) as const;

  const openCluster = async (input: Omit<ClusterInput, 'settings'>, settings: ClusterSettings): Promise<void> => {
    const { number, workspace, user } = input;
    const cluster = createClusterState({ number, workspace, user, createdAtMs: now() }, settings);
    clusters.set(number, cluster);
    const view = (): ClusterView => viewCluster(cluster, { ...input, settings });
    let version = 0;
    const project = async (): Promise<void> => {
      version += 1;
      await store.clusters.project({ view: view(), version, nowMs: now() });
      const usage = usageToNote(cluster);
      if (usage !== null) await store.quotas.noteUsage(usage);
    };
    open.set(`cluster/${number}`, {
      update: (item) => report(cluster, trusted<ReportItem>(item)),
      query: view,
      signal: (name, signal) => signalCluster(cluster, name, signal, now()),
      project,
    });
    await project();
  };

  const openJob = async (input: JobInput): Promise<void> => {
    const { number, workspace, name, specRef } = input;
    const settings = { ...jobSpec.parse(await readJson(objects, specRef)).settings, name };
    const job = createJobState({ number, workspace, submittedAtMs: now() }, settings);
    jobs.set(number, job);
    const array = readStoredArray(settings.array);
    const view = (): JobView => viewJob(job, input);
    let version = 0;
    const project = (): Promise<void> => store.jobs.project({ view: view(), version: (version += 1), nowMs: now() });
    open.set(`job/${number}`, {
      update: (item) => ({ ok: exchange(job, trusted<ExchangeItem>(item), now(), (index) => array.idAt(index)) }),
      query: (message, asked) => {
        if (message === jobMessages.view) return view();
        if (message === jobMessages.taskStates) return viewAllTasks(job);
        return viewTasks(job, trusted<TasksQueryInput>(asked).indices);
      },
      signal: (message, signal) => {
        if (message === jobMessages.cancelTasks) {
          const { tasks, text } = trusted<CancelTasksSignal>(signal);
          cancelMarked(job, markTasks(tasks, array), { code: 'CANCELLED', text, atMs: now() });
        } else cancelJob(job, { ...trusted<CancelSignal>(signal), atMs: now() });
      },
      project,
    });
    await project();
    const { admissionId, user, deploymentId } = input;
    const ofJob = { number, workspace, name, admissionId, user, deploymentId, specRef: null };
    await openCluster(ofJob, { ...settings, job: number, registerTimeoutMs: 1_000, dask: null });
  };

  const openDask = async (input: ClusterInput): Promise<void> => {
    const { settings, bundleRef, caRef } = clusterSpec.parse(await readJson(objects, input.specRef ?? ''));
    const dask = { ...settings.dask, bundleRef, caRef };
    await openCluster(input, { ...settings, name: input.name, dask });
  };

  const port = {
    async start({ type, workflowId, input, options }: WorkflowStart): Promise<StartOutcome> {
      called(`start ${workflowId}`);
      const earlier = admissions.get(workflowId);
      if (earlier !== undefined) return { kind: 'exists', admissionId: earlier };
      admissions.set(workflowId, options.memo.admissionId);
      starts.push(workflowId);
      await (type === 'job' ? openJob(trusted<JobInput>(input)) : openDask(trusted<ClusterInput>(input)));
      return { kind: 'started' };
    },
    async update(id: string, name: string, input: Flush<unknown>): Promise<UpdateOutcome<unknown>> {
      called(`update ${id} ${name}`);
      const workflow = open.get(id);
      if (workflow === undefined) return gone(id);
      const value = overTheWire({ items: input.items.map((item) => workflow.update(item)) });
      if (control.isProjecting) await workflow.project();
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
      workflow.signal(name, input);
      if (control.isProjecting) await workflow.project();
      return { kind: 'sent' };
    },
    async result(id: string) {
      called(`result ${id}`);
      const ended = closed.get(id);
      if (ended === undefined) return { kind: 'missing' };
      return 'failed' in ended ? { kind: 'failed', text: ended.failed } : { kind: 'value', value: ended.result };
    },
    isReachable: async () => !control.isUnavailable,
  };

  const close = (id: string, ending: { result: unknown } | { failed: string }): void => {
    open.delete(id);
    closed.set(id, ending);
  };

  return {
    port: asPort(port),
    control,
    calls,
    /** Started workflows, one entry for each start. */
    starts,
    jobs,
    clusters,
    close,

    /** Writes its last view to the database, then closes: as the real workflows do. */
    async endJob(view: JobView): Promise<void> {
      await store.jobs.end({ view, version: 1_000_000, release: true, nowMs: now() });
      close(`job/${view.number}`, { result: view });
    },
    async endCluster(view: ClusterView): Promise<void> {
      await store.clusters.end({ view, version: 1_000_000, release: true, nowMs: now() });
      close(`cluster/${view.number}`, { result: view });
    },
    forget(id: string): void {
      open.delete(id);
      closed.delete(id);
    },
    /** The number belongs to the workflow of another admission. */
    occupy: (id: string): void => void admissions.set(id, 'adm_of_another_database'),
  };
}

export type MemoryWorkflows = ReturnType<typeof createMemoryWorkflows>;

const unavailable = () => new RopewalkError({ code: 'UNAVAILABLE', message: 'unavailable' }, { retryAfterMs: 1_000 });

const readJson = async (objects: Objects, key: string): Promise<unknown> =>
  JSON.parse(Buffer.from((await objects.get(key)) ?? []).toString());

/** As plain JSON: nothing is shared by reference. */
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The tests' inputs come from the services' own typed calls. */
const trusted = <T>(value: unknown): T => value as T;

/** The port's generics name the answer of each message; here the messages are distinguished by name at run time. */
const asPort = (port: object): WorkflowsPort => port as WorkflowsPort;

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
  } else if (name === clusterMessages.hold) {
    holdLaunches(cluster, trusted<HoldSignal>(input).why, nowMs);
  } else if (name === clusterMessages.suspect) {
    suspectInstances(cluster, trusted<SuspectSignal>(input).instances, nowMs);
  } else throw new Error(`a cluster knows no signal ${name}`);
}
