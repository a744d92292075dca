// The real workflows on the time-skipping server, with the real record activities on a database in memory. Only the provider and
// the object store are scripted: launches succeed at once unless a test scripts a failure.
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';

import { createRecordActivities } from '../../activities/records.ts';
import type { LaunchInput } from '../../contracts/activities.ts';
import { clusterMessages, type ReportAnswer, type ReportItem } from '../../contracts/cluster.ts';
import { controlQueue, type Flush, type FlushAnswer } from '../../contracts/flush.ts';
import { jobMessages } from '../../contracts/job.ts';
import { startOf } from '../../contracts/start.ts';
import type { LaunchOutcome } from '../../domain/cluster/apply.ts';
import type { RunningCharge } from '../../domain/cost/interval.ts';
import type { ClusterSettings } from '../../domain/cluster/state.ts';
import type { ExchangeAnswer, ExchangeItem } from '../../domain/job/protocol.ts';
import type { JobSettings } from '../../domain/job/state.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { RecordKind } from '../../store/admission-port.ts';
import { daskClusterSettings, daskSettings } from '../builders/dask-settings.ts';
import { workflowBundleOnce, startTimeSkipping } from './time-skipping.ts';
import { type Watch, watched } from './watched-store.ts';
import { emptyVault } from '../builders/records.ts';

export interface Bed extends Scripts {
  env: TestWorkflowEnvironment;
  store: Store;
  watch: Watch;
  startJob: (settings?: Partial<JobSettings>) => Promise<number>;
  startCluster: (settings?: Partial<ClusterSettings>) => Promise<number>;
  exchange: (job: number, item: Partial<ExchangeItem>) => Promise<ExchangeAnswer>;
  report: (cluster: number, item: Partial<ReportItem>) => Promise<ReportAnswer>;
  stop: () => Promise<void>;
}

/** The answers of the scripted activities, and their requests. */
interface Scripts {
  job: JobSettings;
  cluster: ClusterSettings;
  launch: (input: LaunchInput) => LaunchOutcome;
  charges: (ids: string[]) => Promise<RunningCharge[]>;
  terminated: string[];
  /** Ids of instances that the provider refuses to terminate. */
  protectedIds: string[];
  /** The provider does not describe instances. */
  isInspectionFailing: boolean;
  /** The object store rejects every page. */
  isArchiveFailing: boolean;
  /** Written pages of task records. */
  pages: number[];
  /** Vault keys. */
  deleted: string[];
  /** Vault keys of the objects that a retry can open. */
  kept: string[];
}

const workspace = 'w';
const job: JobSettings = {
  ...{ name: '', command: 'true', taskCount: 4, array: '0-3', instances: 2, leaseMs: 90_000, retries: 0 },
  ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/test', instanceVcpus: 1 },
};
/** Agents report once an hour: then the head counts as heard while time is skipped. */
const cluster = daskClusterSettings(1, { ...daskSettings, aliveEveryMs: 3_600_000 });

export async function createBed(): Promise<Bed> {
  const env = await startTimeSkipping();
  const { namespace = 'default' } = env;
  const { store, watch } = watched(await openMemoryStore());
  // INDEXED_VALUE_TYPE_KEYWORD
  const searchAttributes = { RopewalkWorkspace: 2, RopewalkUser: 2, RopewalkStatus: 2 } as const;
  await env.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  const token = { id: 't', secretHash: '', expiresAtMs: null };
  await store.workspaces.create({ slug: workspace, admin: { name: 'ada', token }, nowMs: Date.now() });
  const scripts: Scripts = {
    ...{
      job,
      cluster,
      launch: launchAll,
      charges: async () => [],
      terminated: [],
      protectedIds: [],
      deleted: [],
      kept: [],
    },
    ...{ isInspectionFailing: false, isArchiveFailing: false, pages: [] },
  };
  const workers = await createWorkers(env, store, scripts);
  const runs = workers.map((worker) => worker.run());
  return Object.assign(scripts, {
    ...{ env, store, watch },
    startJob: (settings: Partial<JobSettings> = {}) => {
      scripts.job = { ...job, ...settings };
      return start(env, store, 'job');
    },
    startCluster: (settings: Partial<ClusterSettings> = {}) => {
      scripts.cluster = { ...cluster, ...settings };
      return start(env, store, 'cluster');
    },
    exchange: (number: number, item: Partial<ExchangeItem>) => {
      const nothing = { instance: 'i_1_0', claim: 0, want: 0, running: [], results: [], head: false };
      return flush<ExchangeAnswer>(env, `job/${number}`, jobMessages.exchange, { ...nothing, ...item });
    },
    report: (number: number, item: Partial<ReportItem>) => {
      const alive = { instance: 'i_1_0', bootId: 'b', kind: 'alive', address: '10.0.0.1', text: '' };
      return flush<ReportAnswer>(env, `cluster/${number}`, clusterMessages.report, { ...alive, ...item });
    },
    stop: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
      await env.teardown();
      await store.close();
    },
  });
}

export const launchAll = ({ seq, slots }: LaunchInput): LaunchOutcome => ({
  launched: slots.map(({ slot }) => ({ id: `i_${seq}_${slot}`, slot, offer: 'local', zone: 'here' })),
  failures: [],
});

let admissions = 0;

/** Admits it, and starts its workflow as the API does. */
async function start(env: TestWorkflowEnvironment, store: Store, kind: RecordKind): Promise<number> {
  const admissionId = `adm_${(admissions += 1)}`;
  const specRef = `specs/${admissionId}`;
  const item = { workspace, user: 'ada', specRef, privateToCreator: false };
  const admitted = await store.admissions.admit(
    {
      ...{ ...item, kind, admissionId, idempotencyKey: admissionId, bodyHash: '', name: `n-${admissions}` },
      ...{ getOrCreate: false, command: 'true', instances: 2, vcpus: 2, workerVcpus: 1 },
      estimate: { microsPerHour: 0, totalMicros: 0 },
    },
    Date.now(),
  );
  if ('error' in admitted) throw new Error(admitted.error.message);
  const { number, name } = admitted.ok;
  const { type, workflowId, input, options } = startOf({ ...item, kind, number, name, admissionId }, 'dep_test');
  await env.client.workflow.start(type, { ...options, workflowId, args: [input] });
  await store.admissions.started(kind, number);
  return number;
}

async function flush<O>(env: TestWorkflowEnvironment, workflowId: string, update: string, item: object): Promise<O> {
  const args: [Flush<object>] = [{ items: [item] }];
  const handle = env.client.workflow.getHandle(workflowId);
  const { items } = await handle.executeUpdate<FlushAnswer<O>, [Flush<object>]>(update, { args });
  const [answer] = items;
  if (answer === undefined || 'error' in answer) throw new Error(JSON.stringify(answer));
  return answer.ok;
}

async function createWorkers(env: TestWorkflowEnvironment, store: Store, scripts: Scripts): Promise<Worker[]> {
  const common = { connection: env.nativeConnection, namespace: env.namespace ?? 'default' };
  const vault = {
    ...emptyVault((ref) => scripts.deleted.push(ref)),
    open: () => Promise.resolve(new Uint8Array([1])),
    seal: async (ref: string) => void scripts.kept.push(ref),
  };
  const control = await Worker.create({
    ...common,
    taskQueue: controlQueue,
    workflowBundle: await workflowBundleOnce(),
    activities: {
      ...createRecordActivities({ client: env.client, store, vault }),
      loadJob: async () => ({
        settings: scripts.job,
        bundleRef: 'vault/bundle',
        createdAtMs: await env.currentTimeMs(),
      }),
      loadCluster: async () => scripts.cluster,
      archiveTaskPage: async ({ page }: { page: number }) => {
        if (scripts.isArchiveFailing) throw new Error('the object store is unavailable');
        scripts.pages.push(page);
      },
    },
  });
  const provider = await Worker.create({
    ...common,
    taskQueue: job.providerQueue,
    activities: {
      launchInstances: async (input: LaunchInput) => scripts.launch(input),
      inspectInstances: async ({ ids }: { ids: string[] }) => {
        if (scripts.isInspectionFailing) throw new Error('the provider does not answer');
        return { seen: ids.map((id) => ({ id, state: 'alive' })), linkWorks: true };
      },
      readCharges: async ({ ids }: { ids: string[] }) => ({ charges: await scripts.charges(ids) }),
      terminateInstances: async ({ ids }: { ids: string[] }) => {
        if (ids.some((id) => scripts.protectedIds.includes(id))) throw new Error('it is protected from termination');
        scripts.terminated.push(...ids);
        return { lifetimes: [] };
      },
      terminateRemains: async () => ({ ids: [], lifetimes: [] }),
    },
  });
  return [control, provider];
}
