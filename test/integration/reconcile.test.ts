// The reconciliation on a real Temporal server, with the real workflows and a database in memory: workflows that were terminated,
// workflows without a row, and rows that are older than their workflow.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createAdoptActivities } from '../../activities/adopt.ts';
import { createReconcileActivities } from '../../activities/reconcile.ts';
import { createRecordActivities } from '../../activities/records.ts';
import { createSpecActivities } from '../../activities/specs.ts';
import type { LaunchInput } from '../../contracts/activities.ts';
import { clusterMessages, type ClusterView } from '../../contracts/cluster.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { jobMessages } from '../../contracts/job.ts';
import {
  type ReconcileInput,
  type ReconcileReport,
  reconcileScheduleId,
  reconcileType,
} from '../../contracts/reconcile.ts';
import { startOf } from '../../contracts/start.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { RecordKind } from '../../store/admission-port.ts';
import { clusterSpecOf, emptyVault, jobSpec } from '../builders/records.ts';
import { eventually } from '../support/eventually.ts';
import { sharedTemporal } from '../support/shared-temporal.ts';
import { claimNamespace, type TestTemporal } from '../support/temporal-server.ts';

const deploymentId = 'dep_own';
const workspace = 'w';

let temporal: TestTemporal;
let objects: Objects;
let root = '';
let store: Store;
const remains: number[] = [];
const deleted: string[] = [];

beforeEach(async () => {
  remains.length = 0;
  deleted.length = 0;
  root = await mkdtemp(join(tmpdir(), 'ropewalk-reconcile-'));
  objects = createDirectoryObjects(root);
  store = await emptyStore();
  temporal = await sharedTemporal({ control: controlActivities(), instances: providerActivities() });
  await claimNamespace(temporal.client, deploymentId);
});
afterEach(async () => {
  await temporal?.stop();
  await store?.close();
  await rm(root, { recursive: true, force: true });
});

/** The current client and store, also after a test has replaced the store. */
function controlActivities() {
  const vault = emptyVault((ref) => deleted.push(ref));
  const deps = () => ({ client: temporal.client, store, objects, vault });
  const specs = createSpecActivities({ objects });
  const archiveTaskPage = async (): Promise<void> => undefined;
  const late =
    <A extends object, K extends keyof A>(make: (from: ReturnType<typeof deps>) => A, name: K) =>
    (input: never): Promise<unknown> => {
      const activity = make(deps())[name];
      if (typeof activity !== 'function') throw new Error(`no activity ${String(name)}`);
      return activity(input);
    };
  return {
    ...{ ...specs, archiveTaskPage },
    writeView: late(createRecordActivities, 'writeView'),
    noteUsage: late(createRecordActivities, 'noteUsage'),
    readHeard: async () => ({ heard: [], listeningMs: 0 }),
    compareRecords: late(createReconcileActivities, 'compareRecords'),
    locate: late(createReconcileActivities, 'locate'),
    finalizeRecord: late(createReconcileActivities, 'finalizeRecord'),
    adoptWorkflows: late(createAdoptActivities, 'adoptWorkflows'),
  };
}

function providerActivities() {
  return {
    launchInstances: async ({ seq, slots }: LaunchInput) => ({
      launched: slots.map(({ slot }) => ({ id: `i_${seq}_${slot}`, slot, offer: 'local', zone: 'here' })),
      failures: [],
    }),
    inspectInstances: async ({ ids }: { ids: string[] }) => ({
      seen: ids.map((id) => ({ id, state: 'alive' })),
      linkWorks: true,
    }),
    terminateInstances: async () => ({ lifetimes: [] }),
    terminateRemains: async ({ owner }: { owner: { cluster: number } }) => {
      remains.push(owner.cluster);
      return { ids: [], lifetimes: [] };
    },
  };
}

async function emptyStore(): Promise<Store> {
  const fresh = await openMemoryStore();
  const token = { id: 't', secretHash: '', expiresAtMs: null };
  await fresh.deployment.claim(deploymentId, 1);
  await fresh.workspaces.create({ slug: workspace, admin: { name: 'ada', token }, nowMs: 1 });
  return fresh;
}

let admissions = 0;

async function admitted(kind: RecordKind) {
  const admissionId = `adm_${(admissions += 1)}`;
  const specRef = `specs/${admissionId}`;
  const item = { kind, workspace, admissionId, specRef, user: 'ada', privateToCreator: false };
  const answer = await store.admissions.admit(
    {
      ...{ ...item, idempotencyKey: admissionId, bodyHash: '', name: `n-${admissions}`, getOrCreate: false },
      ...{ command: 'sleep 1', instances: 3, vcpus: 6, workerVcpus: 2 },
      estimate: { microsPerHour: 0, totalMicros: 0 },
    },
    Date.now(),
  );
  if ('error' in answer) throw new Error(answer.error.message);
  return { ...item, number: answer.ok.number, name: answer.ok.name };
}

/** A job or cluster whose row matches its workflow. */
async function started(kind: RecordKind): Promise<number> {
  const item = await admitted(kind);
  const spec = kind === 'job' ? { ...jobSpec, bundleRef: `vault/${item.number}` } : clusterSpecOf();
  await objects.put(item.specRef, new TextEncoder().encode(JSON.stringify(spec)));
  const { type, workflowId, input, options } = startOf(item, deploymentId);
  await temporal.client.workflow.start(type, { ...options, workflowId, args: [input] });
  await store.admissions.started(kind, item.number);
  await eventually(async () => (await store.clusters.find(workspace, item.number))?.status === 'starting');
  return item.number;
}

const handleOf = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
const terminate = (workflowId: string) => handleOf(workflowId).terminate('by hand');
const job = (number: number) => store.jobs.find(workspace, number);
const cluster = (number: number) => store.clusters.find(workspace, number);
const open = async (): Promise<number> => (await store.workspaces.usage(workspace)).total.running;

let runs = 0;
const reconcile = (input: Partial<ReconcileInput> = {}): Promise<ReconcileReport> =>
  temporal.client.workflow.execute<(input: ReconcileInput) => Promise<ReconcileReport>>(reconcileType, {
    ...{ workflowId: `test-reconcile-${(runs += 1)}`, taskQueue: controlQueue },
    args: [{ deploymentId, graceMs: 0, dryRun: false, ...input }],
  });

const outside = { status: 'error', view: { reason: { code: 'ENDED_FROM_OUTSIDE' } } };

describe('a workflow that was terminated', () => {
  it('has its row finalized at the second sight: a job with its cluster', async () => {
    const number = await started('job');
    for (const id of [`cluster/${number}`, `job/${number}`]) await terminate(id);
    const names = [`cluster/${number}`, `job/${number}`];
    const dry = await reconcile({ dryRun: true });
    expect([dry.waiting.toSorted(), dry.finalized]).toEqual([names, []]);

    const first = await reconcile({ graceMs: 60_000 });
    expect([first.compared, first.waiting.toSorted(), first.finalized]).toEqual([2, names, []]);
    expect((await reconcile({ graceMs: 60_000 })).waiting.toSorted()).toEqual(names);
    expect([(await job(number))?.state, await open(), remains]).toEqual(['open', 1, []]);

    expect((await reconcile()).finalized.toSorted()).toEqual(names);
    expect(await job(number)).toMatchObject({ state: 'ended', ...outside });
    expect(await cluster(number)).toMatchObject({ state: 'ended', ...outside });
    expect([await open(), remains]).toEqual([0, [number]]);
    expect(deleted).toContain(`vault/${number}`);
    expect(await reconcile()).toMatchObject({ compared: 0, finalized: [], unknown: [] });
  });

  it('has its row finalized: a Dask cluster', async () => {
    const number = await started('cluster');
    await terminate(`cluster/${number}`);
    await reconcile();
    expect((await reconcile()).finalized).toEqual([`cluster/${number}`]);
    expect(await cluster(number)).toMatchObject({ state: 'ended', ...outside });
    expect([await open(), remains, deleted.toSorted()]).toEqual([0, [number], ['ca', 'vault/cluster']]);
  });

  it('takes its cluster along: a job', async () => {
    const number = await started('job');
    await terminate(`job/${number}`);
    await reconcile();
    expect((await reconcile()).finalized).toEqual([`job/${number}`]);
    expect(await handleOf(`cluster/${number}`).result()).toMatchObject({ reason: { code: 'JOB_GONE' } });
    expect(await job(number)).toMatchObject({ state: 'ended', ...outside });
    expect([(await cluster(number))?.state, await open()]).toEqual(['ended', 0]);
  });

  it('takes its job along: the cluster of a job', async () => {
    const number = await started('job');
    await terminate(`cluster/${number}`);
    await reconcile();
    await reconcile();
    expect(await handleOf(`job/${number}`).result()).toMatchObject({ reason: { code: 'CLUSTER_GONE' } });
    expect(await reconcile()).toMatchObject({ finalized: [`cluster/${number}`] });
    expect([(await job(number))?.state, (await cluster(number))?.state, await open()]).toEqual(['ended', 'ended', 0]);
  });
});

it.each(['job', 'cluster'] as const)(
  'a %s whose specification a foreign Temporal worker did not find keeps the data of its row',
  async (kind) => {
    const item = await admitted(kind);
    const { type, workflowId, input, options } = startOf(item, deploymentId);
    await temporal.client.workflow.start(type, { ...options, workflowId, args: [input] });
    await store.admissions.started(kind, item.number);
    await expect(handleOf(workflowId).result()).rejects.toThrow('Workflow execution failed');
    const before = await handleOf(workflowId).query<{ submittedAtMs?: number; createdAtMs?: number }>(`${kind}.view`);
    expect(before.submittedAtMs ?? before.createdAtMs).toBeGreaterThan(0);
    // This deployment's own object store has it.
    const spec = kind === 'job' ? jobSpec : clusterSpecOf();
    await objects.put(item.specRef, new TextEncoder().encode(JSON.stringify(spec)));
    await reconcile();
    expect((await reconcile()).finalized).toEqual([workflowId]);
    const row = kind === 'job' ? await job(item.number) : await cluster(item.number);
    const ofJob = { submittedAtMs: row?.createdAtMs, command: 'sleep 1', instances: 3, tasks: { total: 4 } };
    const ofCluster = { createdAtMs: row?.createdAtMs, target: 3, provider: 'local' };
    expect(row).toMatchObject({ state: 'ended', ...outside });
    expect(row?.view).toMatchObject(kind === 'job' ? ofJob : ofCluster);
  },
);

describe('after the restore of an older database', () => {
  /** The numbers that the backup does not contain. */
  const restore = async (): Promise<void> => {
    await store.close();
    store = await emptyStore();
  };

  it('workflows get their rows back, with name, quota and number', async () => {
    const [jobNumber, clusterNumber] = [await started('job'), await started('cluster')];
    const name = (await job(jobNumber))?.name;
    const over = await started('job');
    await handleOf(`job/${over}`).signal(jobMessages.cancel, { code: 'CANCELLED', text: 'enough' });
    for (const id of [`job/${over}`, `cluster/${over}`]) await handleOf(id).result();
    await restore();
    const names = [`cluster/${clusterNumber}`, `cluster/${jobNumber}`, `job/${jobNumber}`].toSorted();
    await eventually(async () => (await reconcile({ dryRun: true })).adopted.length === 3);
    expect((await reconcile()).adopted.toSorted()).toEqual(names);
    expect(await job(jobNumber)).toMatchObject({ state: 'open', name, user: 'ada', view: { tasks: { total: 4 } } });
    expect(await cluster(clusterNumber)).toMatchObject({ state: 'open', job: null });
    expect(await cluster(jobNumber)).toMatchObject({ state: 'open', job: jobNumber });
    expect(await open()).toBe(2);
    // The number of the ended job is used too.
    expect((await admitted('job')).number).toBeGreaterThan(over);
    expect((await reconcile()).adopted).toEqual([]);
  });

  it('a row is brought up to date whose workflow has nothing more to write, and one that has ended gets its result', async () => {
    const idle = await started('cluster');
    const item = { workspace, user: 'ada', privateToCreator: false };
    const view = await handleOf(`cluster/${idle}`).query<ClusterView>(clusterMessages.view);
    const ended = await started('job');
    await handleOf(`job/${ended}`).signal(jobMessages.cancel, { code: 'CANCELLED', text: 'enough' });
    for (const id of [`job/${ended}`, `cluster/${ended}`]) await handleOf(id).result();
    const specRef = (await job(ended))?.specRef ?? '';
    const jobView = (await job(ended))?.view ?? null;
    if (jobView === null) throw new Error('no view');
    await restore();
    const old = { ...item, admittedAtMs: 1, vcpus: 1 };
    const pending = { ...view, status: 'pending' as const };
    await store.clusters.adopt({
      ...{ ...old, kind: 'cluster', number: idle, name: view.name, admissionId: 'a', specRef: 's', view: pending },
    });
    const running = { ...jobView, status: 'running' as const, endedAtMs: null };
    await store.jobs.adopt({
      ...{ ...old, kind: 'job', number: ended, name: 'old', admissionId: 'b', specRef, view: running },
    });
    // On a busy machine a workflow may answer late; the next run compares it again.
    const done: string[] = [];
    await eventually(async () => {
      const { refreshed, finalized } = await reconcile();
      done.push(...refreshed, ...finalized);
      return done.length >= 2;
    });
    expect(done.toSorted()).toEqual([`cluster/${idle}`, `job/${ended}`]);
    expect((await cluster(idle))?.status).toBe('starting');
    expect(await job(ended)).toMatchObject({
      state: 'ended',
      status: 'cancelled',
      view: { reason: { code: 'CANCELLED' } },
    });
  });
});

it('nothing is compared in the namespace of another deployment, nor in one that no deployment has claimed', async () => {
  const number = await started('cluster');
  await terminate(`cluster/${number}`);
  const nothing = { compared: 0, waiting: [], finalized: [], adopted: [] };
  const foreign = await reconcile({ deploymentId: 'dep_other' });
  expect(foreign).toMatchObject({ ...nothing, refusal: expect.stringContaining('dep_own') });
  await temporal.client.schedule.getHandle(reconcileScheduleId).delete();
  expect(await reconcile()).toMatchObject({ ...nothing, refusal: expect.stringContaining('could not be read') });
});
