// A commit of SQLite is answered when its log is on the disk. The sync itself is replaced, to hold it and to let it fail.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Database } from '../../store/database.ts';
import { openSqliteFile } from '../../store/sqlite/database.ts';

let directory = '';
let database: Database | null = null;
/** What each sync waits for; without one it ends at once. */
let held: PromiseWithResolvers<void>[] = [];
let syncs = 0;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-store-'));
  const handle = await open(join(directory, 'any'), 'w');
  const prototype: { datasync: () => Promise<void> } = Object.getPrototypeOf(handle);
  await handle.close();
  held = [];
  syncs = 0;
  vi.spyOn(prototype, 'datasync').mockImplementation(async () => held[syncs++]?.promise);
});
afterEach(async () => {
  await database?.close();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

const opened = async (): Promise<Database> => {
  database = await openSqliteFile(join(directory, 'records.sqlite'));
  await database.write(async (db) => {
    await sql`create table if not exists number (value integer)`.execute(db);
  });
  return database;
};

const insert = (into: Database, value: number): Promise<void> =>
  into.write(async (db) => {
    await sql`insert into number values (${value})`.execute(db);
  });

const values = (of: Database): Promise<unknown[]> =>
  of.read(async (db) => (await sql<{ value: number }>`select value from number`.execute(db)).rows);

/** Holds the syncs from now on. */
const hold = (count: number): void => {
  held = [
    ...Array.from({ length: syncs }, () => Promise.withResolvers<void>()),
    ...Array.from({ length: count }, () => Promise.withResolvers<void>()),
  ];
};

describe('a file', () => {
  it('answers when the log is synced; reads, and other commits, go on meanwhile', async () => {
    const file = await opened();
    const before = syncs;
    hold(2);
    const answered: number[] = [];
    const all = [1, 2, 3].map(async (value) => {
      // Each in a commit of its own.
      await vi.waitFor(async () => expect(await values(file)).toHaveLength(value - 1), { interval: 1 });
      await insert(file, value);
      answered.push(value);
    });
    await vi.waitFor(async () => expect(await values(file)).toHaveLength(3), { interval: 1 });
    expect(answered).toEqual([]);
    held[before]?.resolve();
    await vi.waitFor(() => expect(syncs).toBe(before + 2), { interval: 1 });
    expect(answered).toEqual([1]);
    held[before + 1]?.resolve();
    await Promise.all(all);
    // The second and the third commit shared a sync.
    expect([answered, syncs]).toEqual([[1, 2, 3], before + 2]);
  });

  it('refuses what could not be synced, and everything later, until it is opened again', async () => {
    const file = await opened();
    const before = syncs;
    hold(1);
    const lost = insert(file, 1);
    await vi.waitFor(() => expect(syncs).toBe(before + 1), { interval: 1 });
    held[before]?.reject(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    const refusal = {
      problem: {
        code: 'UNAVAILABLE',
        message: expect.stringContaining('EIO: i/o error'),
        hint: expect.stringContaining('start Ropewalk again'),
      },
    };
    await expect(lost).rejects.toMatchObject(refusal);
    await expect(insert(file, 2)).rejects.toMatchObject(refusal);
    expect(syncs).toBe(before + 1);
    await file.close();
    const again = await opened();
    await insert(again, 3);
    expect(await values(again)).toContainEqual({ value: 3 });
  });

  it('is closed after its last commit was synced', async () => {
    const file = await opened();
    const before = syncs;
    hold(1);
    const order: string[] = [];
    const inserted = insert(file, 1).then(() => order.push('answered'));
    const closed = file.close().then(() => order.push('closed'));
    database = null;
    await vi.waitFor(() => expect(syncs).toBe(before + 1), { interval: 1 });
    expect(order).toEqual([]);
    held[before]?.resolve();
    await Promise.all([inserted, closed]);
    expect(order).toEqual(['answered', 'closed']);
  });
});
