// The contract on SQLite, in memory and in a file that two stores share, and features that only a file has.
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openMemoryStore, openStore } from '../../store/open.ts';
import { describeStore } from './contract.ts';
import { addWorkspace, aJobView, admitted, opened, startMs, unique, type Backend } from './fixtures.ts';

const memory: Backend = {
  open: async () => {
    const store = await openMemoryStore();
    return { store, other: store, close: () => store.close() };
  },
};

const shared: Backend = {
  open: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-store-'));
    const options = { url: null, file: join(directory, 'records.sqlite') };
    const store = await openStore({ ...options, migrate: true });
    const other = await openStore({ ...options, migrate: false });
    const close = async () => {
      await Promise.all([store.close(), other.close()]);
      await rm(directory, { recursive: true });
    };
    return { store, other, close };
  },
};

describeStore('SQLite in memory', memory);
describeStore('SQLite in a file that two stores share', shared);

it('ages the rows of replicas by the clock of the database, and deletes those that ended long before', async () => {
  let nowMs = startMs;
  const store = await openMemoryStore(() => nowMs);
  const { liveness } = store;
  await liveness.noteReplica('first', 100_000);
  nowMs += 7_000;
  expect(await liveness.replicas()).toEqual([{ replica: 'first', wroteAgoMs: 7_000, sinceAgoMs: 107_000 }]);
  nowMs += 2 * 86_400_000;
  await liveness.noteReplica('second', 0);
  expect(await liveness.replicas()).toEqual([{ replica: 'second', wroteAgoMs: 0, sinceAgoMs: 0 }]);
  await store.close();
});

describe('a file', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ropewalk-store-'));
  });
  afterEach(() => rm(directory, { recursive: true }));
  const fileOf = (): string => join(directory, 'records.sqlite');
  const open = (migrate = true) => openStore({ url: null, file: fileOf(), migrate });
  const execute = (sql: string): void => {
    const database = new DatabaseSync(fileOf());
    database.exec(sql);
    database.close();
  };

  it('is readable by its owner only, with its log', async () => {
    const store = await open();
    await addWorkspace(store);
    for (const suffix of ['', '-wal', '-shm']) {
      expect((await stat(`${fileOf()}${suffix}`)).mode & 0o777).toBe(0o600);
    }
    await store.close();
  });

  it('keeps everything when it is closed and opened again', async () => {
    const first = await open();
    const { slug } = await addWorkspace(first);
    const { number } = await opened(first, slug);
    await first.close();
    const second = await open(false);
    expect(await second.jobs.find(slug, number)).toMatchObject({ state: 'open' });
    await second.close();
  });

  it('is refused when it is empty, older or newer than the code, with what to do', async () => {
    await expect(open(false)).rejects.toMatchObject({
      problem: {
        code: 'CONFLICT',
        message: expect.stringContaining('empty'),
        hint: expect.stringContaining('ropewalk init'),
      },
    });
    await (await open()).close();
    execute('insert into schema_version values (1000, 0)');
    for (const migrate of [true, false]) {
      const problem = { code: 'CONFLICT', message: expect.stringContaining('schema version 1000') };
      await expect(open(migrate)).rejects.toMatchObject({ problem });
    }
  });

  it('is migrated once by many processes that open it at the same moment', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => open()));
    const { slug } = await addWorkspace(stores[0] ?? (await open()));
    for (const store of stores) expect(await store.workspaces.find(slug)).not.toBeNull();
    await Promise.all(stores.map((store) => store.close()));
  });

  it('that is no database is UNAVAILABLE, with what to do', async () => {
    await writeFile(fileOf(), 'this is not a database, and long enough to be read as one '.repeat(100));
    await expect(open()).rejects.toMatchObject({
      problem: { code: 'UNAVAILABLE', hint: expect.stringContaining('restore a backup') },
    });
  });

  it('lets readers read while a transaction of another process is open', async () => {
    const store = await open();
    const { slug } = await addWorkspace(store);
    const writer = new DatabaseSync(fileOf());
    writer.exec('begin immediate');
    expect(await store.workspaces.find(slug)).not.toBeNull();
    // A writer waits for the lock, and gets it.
    const waiting = admitted(store, slug);
    writer.exec('commit');
    expect(await waiting).toMatchObject({ existing: false });
    writer.close();
    await store.close();
  });

  it('gives a damaged view as none, and the rest of the page', async () => {
    const store = await open();
    const { slug } = await addWorkspace(store);
    const [damaged, whole] = [await opened(store, slug), await opened(store, slug)];
    for (const { number } of [damaged, whole]) {
      await store.jobs.project({ view: aJobView(slug, number), version: 1, nowMs: startMs });
    }
    execute(`update records set view = '{"number":' where number = ${damaged.number}`);
    const { items } = await store.jobs.list({ workspace: slug, limit: 10 });
    expect(items).toMatchObject([
      { view: { number: whole.number } },
      { number: damaged.number, view: null, status: 'running' },
    ]);
    expect(await store.jobs.find(slug, damaged.number)).toMatchObject({ view: null });
    await store.close();
  });

  it('keeps SQL in names and searches harmless', async () => {
    const store = await open();
    const { slug } = await addWorkspace(store);
    const name = `'); drop table records; --${unique('')}`;
    const { number } = await opened(store, slug, { name });
    const search = { text: `%' or 1=1; --`, user: name };
    expect((await store.jobs.list({ workspace: slug, search, limit: 5 })).items).toEqual([]);
    expect((await store.jobs.list({ workspace: slug, name, limit: 5 })).items).toMatchObject([{ number }]);
    await store.close();
  });
});
