// oxlint-disable typescript/unbound-method -- activities are functions without `this`; MockActivityEnvironment takes them bare.
// The activities that write to the database and the object store, on a real database in memory.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createRecordActivities } from '../../activities/records.ts';
import { createSpecActivities } from '../../activities/specs.ts';
import { createTaskPageActivities } from '../../activities/task-pages.ts';
import { jobOfRecord } from '../../views/job.ts';
import type { SpecActivities, TaskPageActivities, ViewWrite } from '../../contracts/activities.ts';
import type { JobView } from '../../contracts/job.ts';
import type { JobStatus } from '../../domain/job/state.ts';
import { createVault } from '../../platform/vault/vault.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import { openMemoryStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { memoryObjects, testKeys } from '../platform/support.ts';
import { aRecord, clusterSpecOf, emptyVault, jobSpec } from '../builders/records.ts';

// Failed activities would be logged.
Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });

type SpecRef = Parameters<SpecActivities['loadJob']>[0];
type TaskPage = Parameters<TaskPageActivities['archiveTaskPage']>[0];

let store: Store;
/** The time of the database's clock. */
let databaseMs = 0;
let number = 0;
const deleted: string[] = [];
beforeEach(async () => {
  deleted.length = 0;
  store = await openMemoryStore(() => databaseMs);
  const token = { id: 't', secretHash: '', expiresAtMs: null };
  await store.workspaces.create({ slug: 'w', admin: { name: 'mia', token }, nowMs: 1 });
  const admitted = await store.admissions.admit(
    {
      ...{ workspace: 'w', admissionId: 'adm_7', idempotencyKey: 'k', bodyHash: '', kind: 'job', name: 'mine' },
      ...{ getOrCreate: false, privateToCreator: false, specRef: 'specs/7', command: 'sleep 1', user: 'mia' },
      ...{ instances: 3, vcpus: 6, workerVcpus: 2 },
      estimate: { microsPerHour: 0, totalMicros: 0 },
    },
    1,
  );
  if ('error' in admitted) throw new Error(admitted.error.message);
  ({ number } = admitted.ok);
});
afterEach(() => store.close());

// The job's view is passed in: Temporal is not called, and is not available here.
const client = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
const activities = () =>
  createRecordActivities({
    client,
    store,
    vault: emptyVault((ref) => deleted.push(ref)),
    now: () => 5_000,
  });
const run = <I, O>(activity: (input: I) => Promise<O>, input: I): Promise<O> =>
  new MockActivityEnvironment().run(activity, input);

const minuteMs = 60_000;

const viewed = (status: JobStatus): JobView => ({
  ...jobOfRecord({ ...aRecord<JobView>(number), command: 'sleep 1' }, jobSpec),
  status,
});

const write = (status: JobStatus, version: number, end: ViewWrite['end'] = null): Promise<void> =>
  run((input: ViewWrite) => activities().writeView(input), {
    kind: 'job',
    number,
    workspace: 'w',
    view: viewed(status),
    version,
    end,
  });

const row = () => store.jobs.find('w', number);
const running = async (): Promise<number> => (await store.workspaces.usage('w')).total.running;

describe('a view', () => {
  it('replaces an older one, and no newer one', async () => {
    await write('running', 2);
    await write('pending', 1);
    expect(await row()).toMatchObject({ state: 'open', status: 'running', viewVersion: 2 });
  });

  it('that is written twice is written once', async () => {
    await write('running', 1);
    await write('running', 1);
    expect(await row()).toMatchObject({ status: 'running', viewVersion: 1 });
  });

  it('that is final ends the row, releases name and quota, and deletes what was sealed', async () => {
    expect(await running()).toBe(1);
    await write('done', 1, { release: true, sealed: ['vault/job'] });
    await write('running', 2);
    expect(await row()).toMatchObject({ state: 'ended', status: 'done' });
    expect([await running(), deleted]).toEqual([0, ['vault/job']]);
  });

  it('that is final keeps what a job with failed tasks ran, for seven days', async () => {
    const sealed: [string, number][] = [];
    const vault = {
      ...emptyVault((ref) => deleted.push(ref)),
      open: () => Promise.resolve(new Uint8Array([1])),
      seal: async (ref: string, bytes: Uint8Array, { ttlMs }: { ttlMs: number }) =>
        void sealed.push([`${ref} ${bytes.length}`, ttlMs]),
    };
    const { writeView } = createRecordActivities({ client, store, vault, now: () => 5_000 });
    const end = { release: true, sealed: [], retriable: 'vault/job' };
    await run(writeView, { kind: 'job', number, workspace: 'w', version: 1, view: viewed('error'), end });
    expect([sealed, deleted]).toEqual([[['vault/job 1', 7 * 86_400_000]], []]);
    await write('error', 2, end);
    expect(deleted).toEqual(['vault/job']);
  });

  it('that is final keeps what a job ran through an outage of the object store, and deletes a damaged envelope', async () => {
    const objects = memoryObjects();
    const stored = createVault(objects, testKeys());
    await stored.seal('vault/job', new Uint8Array([1]), { ttlMs: 1_000_000 });
    let isUnreachable = true;
    const vault = createVault(
      { ...objects, get: (key) => (isUnreachable ? Promise.reject(new Error('ECONNREFUSED')) : objects.get(key)) },
      testKeys(),
    );
    const { writeView } = createRecordActivities({ client, store, vault, now: () => 5_000 });
    const end = { release: true, sealed: [], retriable: 'vault/job' };
    const input: ViewWrite = { kind: 'job', number, workspace: 'w', version: 1, view: viewed('error'), end };
    await expect(run(writeView, input)).rejects.toThrow('ECONNREFUSED');
    isUnreachable = false;
    await run(writeView, input);
    expect(await vault.open('vault/job')).toEqual(new Uint8Array([1]));
    await objects.put('vault/job', Buffer.from('{"damaged":'));
    await run(writeView, input);
    expect(objects.keys()).toEqual([]);
  });

  it('that is final releases nothing while the cluster has instances', async () => {
    await write('done', 1, { release: false, sealed: [] });
    expect([(await row())?.state, await running()]).toEqual(['ended', 1]);
  });
});

describe('a specification', () => {
  const bytes = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  let root = '';
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'ropewalk-specs-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('is read as the API wrote it', async () => {
    const objects = createDirectoryObjects(root);
    const specs = createSpecActivities({ objects });
    await objects.put('job', bytes(jobSpec));
    await objects.put('cluster', bytes(clusterSpecOf()));
    expect(await run((input: SpecRef) => specs.loadJob(input), { specRef: 'job' })).toMatchObject({
      bundleRef: 'vault/job',
      createdAtMs: 1_000,
    });
    expect((await run((input: SpecRef) => specs.loadCluster(input), { specRef: 'cluster' })).dask).toMatchObject({
      bundleRef: 'vault/cluster',
      caRef: 'ca',
    });
  });

  it('that is missing or too new fails the activity for good', async () => {
    const objects = createDirectoryObjects(root);
    const specs = createSpecActivities({ objects });
    const load = (specRef: string) => run((input: SpecRef) => specs.loadJob(input), { specRef });
    await objects.put('newer', bytes({ ...jobSpec, v: 2 }));
    await expect(load('none')).rejects.toMatchObject({ nonRetryable: true, type: 'SpecMissing' });
    await expect(load('newer')).rejects.toMatchObject({ nonRetryable: true, type: 'SpecVersion' });
  });

  it('has the task pages of its job beside it, each once', async () => {
    const objects = createDirectoryObjects(root);
    const pages = createTaskPageActivities({ objects });
    const page: TaskPage = { workspace: 'w', job: 7, page: 0, records: [] };
    for (let attempt = 0; attempt < 2; attempt += 1) await run((input: TaskPage) => pages.archiveTaskPage(input), page);
    const [key, ...others] = await objects.list('archive/w/job-tasks/', { limit: 10 });
    expect(others).toEqual([]);
    expect(new TextDecoder().decode((await objects.get(key ?? '')) ?? undefined)).toBe('[]');
  });
});

describe('readHeard', () => {
  const nowMs = 100 * minuteMs;
  /** `aheadMs`: the offset of the Temporal worker host's clock. */
  const read = (aheadMs = 0) => {
    const { readHeard } = createRecordActivities({
      client,
      store,
      vault: emptyVault(() => undefined),
      now: () => nowMs + aheadMs,
    });
    return run(readHeard, { cluster: number, instances: ['i_1'] });
  };
  const heard = { instance: 'i_1', heardAtMs: nowMs - 30 * minuteMs, sinceMs: 0 };
  /** As the replica `a` wrote then, after listening for this long. */
  const noteReplica = async (agoMs: number, listeningMs: number): Promise<void> => {
    databaseMs = nowMs - agoMs;
    await store.liveness.noteReplica('a', listeningMs);
    databaseMs = nowMs;
  };

  it.each([-60 * minuteMs, 0, 30_000, 60 * minuteMs])(
    'says for how long the API has been writing what it hears, by the clock of the database (own clock %i ms ahead)',
    async (aheadMs) => {
      await store.liveness.note([{ ...heard, cluster: number, silentAfterMs: null }]);
      await noteReplica(1_000, 39 * minuteMs);
      expect(await read(aheadMs)).toEqual({ heard: [heard], listeningMs: 39 * minuteMs + 1_000 });
    },
  );

  it('says that silence proves nothing while no replica of the API can write', async () => {
    await store.liveness.note([{ ...heard, cluster: number, silentAfterMs: null }]);
    await noteReplica(30 * minuteMs, 70 * minuteMs);
    expect(await read()).toEqual({ heard: [heard], listeningMs: 0 });
  });
});
