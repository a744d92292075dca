// The database of records: admissions, pages of lists among 100,000 jobs, and the verification of a token, on SQLite and, where
// installed, on PostgreSQL. Both write durably.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Database } from '../../store/database.ts';
import { openStore } from '../../store/open.ts';
import { openPostgres } from '../../store/postgres/database.ts';
import { openSqliteFile } from '../../store/sqlite/database.ts';
import type { RecordQuery, Store } from '../../store/store.ts';
import type { AdmitItem } from '../../store/admission-port.ts';
import { findPostgres, startPostgres } from '../../test/store/postgres-server.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { loopBench } from './loop.ts';
import { fill } from './rows.ts';

interface Subject {
  name: string;
  store: Store;
  database: Database;
  /** On the disk of the database. */
  directory: string;
  close: () => Promise<void>;
}

export async function storeBench(report: Report, { small, rounds = 5 }: BenchOptions): Promise<void> {
  for (const open of [openOnSqlite, openOnPostgres]) {
    const subject = await open();
    if (subject === null) {
      report.say('PostgreSQL is not installed: left out.');
      continue;
    }
    try {
      await measure(report, subject, {
        ...{ rounds, admissions: small ? 100 : 1_000, rows: small ? 10_000 : 100_000, seconds: small ? 2 : 6 },
      });
    } finally {
      await subject.close();
    }
  }
}

async function measure(
  report: Report,
  { name, store, database, directory }: Subject,
  { rounds, admissions, rows, seconds }: { rounds: number; admissions: number; rows: number; seconds: number },
): Promise<void> {
  const token = { id: 'bench', secretHash: 'a'.repeat(64), expiresAtMs: null };
  await store.workspaces.create({ slug: 'bench', admin: { name: 'ada', token }, nowMs: Date.now() });
  const ample = { running: 1_000_000, instances: 1_000_000, vcpus: 1_000_000 };
  await store.workspaces.configure('bench', { limits: ample, by: null }, Date.now());
  await fill(database, 'bench', rows);
  await store.deployment.reserveNumbersTo(rows);

  const times = { single: [] as number[], crowd: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.single.push(await timed(admissions, () => store.admissions.admit(anItem(), Date.now())));
    const startedAtMs = performance.now();
    await Promise.all(Array.from({ length: admissions }, () => store.admissions.admit(anItem(), Date.now())));
    times.crowd.push(performance.now() - startedAtMs);
  }
  report.figure(`${name}: an admission, one after the other`, times.single, 'ms');
  report.figure(`${name}: ${admissions} admissions at once`, times.crowd, 'ms');

  const pages: [what: string, query: Partial<RecordQuery>][] = [
    ['first page of 50', {}],
    ['deep page', { before: Math.floor(rows / 50) }],
    ['one status of many', { statuses: ['done'], before: Math.floor(rows / 2) }],
    ['two rare statuses', { statuses: ['cancelled', 'running'], before: rows }],
    ['two common statuses', { statuses: ['done', 'error'], before: rows }],
    ['one of 100 users', { user: 'user-7' }],
    ['open ones', { isOpen: true, before: rows }],
    ['created within an hour, long ago', { sinceMs: 10_000_000, untilMs: 10_050_000 }],
    ['search that many match', { search: { text: 'train', user: 'ada' } }],
    ['search that one matches', { search: { text: 'needle', user: 'ada' } }],
  ];
  for (const [what, query] of pages) {
    const page = (): Promise<unknown> => store.jobs.list({ workspace: 'bench', limit: 50, ...query });
    const values: number[] = [];
    for (let round = 0; round < rounds; round += 1) values.push(await timed(20, page));
    report.figure(`${name}: ${what}, of ${rows} jobs`, values, 'ms');
  }
  const lookups: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    lookups.push(await timed(1_000, () => store.people.findToken('bench', 'bench')));
  }
  report.figure(`${name}: a token and its user`, lookups, 'ms');
  const commit = (): Promise<unknown> => store.admissions.admit(anItem(), Date.now());
  await loopBench(report, { name, commit, directory, seconds });
}

let count = 0;
const anItem = (): AdmitItem => {
  count += 1;
  return {
    ...{ workspace: 'bench', admissionId: `adm_${count}`, idempotencyKey: `key_${count}`, bodyHash: 'b'.repeat(64) },
    ...{ kind: 'job', name: `made-${count}`, getOrCreate: false, privateToCreator: false, specRef: `specs/${count}` },
    ...{ command: 'python simulate.py', user: 'ada', instances: 1, vcpus: 2, workerVcpus: 2 },
    estimate: { microsPerHour: 0, totalMicros: 0 },
  };
};

/** Mean of one run, in ms. */
async function timed(times: number, run: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  for (let n = 0; n < times; n += 1) await run();
  return (performance.now() - startedAtMs) / times;
}

async function openOnSqlite(): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bench-store-'));
  const file = join(directory, 'records.sqlite');
  const store = await openStore({ url: null, file, migrate: true });
  const database = await openSqliteFile(file);
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), database.close()]);
    await rm(directory, { recursive: true });
  };
  return { name: 'SQLite', store, database, directory, close };
}

async function openOnPostgres(): Promise<Subject | null> {
  const found = await findPostgres();
  if ('missing' in found) return null;
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bench-store-'));
  const server = await startPostgres(found.directory, { durable: true });
  const url = await server.createDatabase();
  const store = await openStore({ url, file: '', migrate: true });
  const database = openPostgres(url);
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), database.close()]);
    await server.stop();
    await rm(directory, { recursive: true });
  };
  return { name: 'PostgreSQL', store, database, directory, close };
}
