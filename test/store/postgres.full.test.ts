// The contract on PostgreSQL, and features that only a server has: lost connections, restarts, wrong URLs.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RopewalkError } from '../../domain/errors.ts';
import { openStore } from '../../store/open.ts';
import { openPostgres } from '../../store/postgres/database.ts';
import { describeStore } from './contract.ts';
import { addWorkspace, admitted, atOnce, opened, unique, type Backend } from './fixtures.ts';
import { findPostgres, postgresPassword, startPostgres, type PostgresServer } from './postgres-server.ts';

const found = await findPostgres();
if ('missing' in found) console.log(`The tests of PostgreSQL are left out. ${found.missing}`);

describe.runIf('directory' in found)('with a server of PostgreSQL', () => {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres('directory' in found ? found.directory : '');
  });
  afterAll(() => server?.stop());
  const running = (): PostgresServer => {
    if (server === undefined) throw new Error('the server is not running');
    return server;
  };
  const backend: Backend = {
    open: async () => {
      const url = await running().createDatabase();
      const store = await openStore({ url, file: '', migrate: true });
      const other = await openStore({ url, file: '', migrate: false });
      return { store, other, close: async () => void (await Promise.all([store.close(), other.close()])) };
    },
  };

  describeStore('PostgreSQL', backend);

  it('survives that its connections are ended', async () => {
    const { store, close } = await backend.open();
    const { slug } = await addWorkspace(store);
    await Promise.all(Array.from({ length: 10 }, () => store.ping()));
    await running().endConnections();
    expect(await store.workspaces.find(slug)).not.toBeNull();
    await running().endConnections();
    expect(await admitted(store, slug)).toMatchObject({ existing: false });
    await close();
  });

  it('survives that one connection after the other is ended under it', async () => {
    const database = openPostgres(await running().createDatabase());
    let attempts = 0;
    const read = database.read(async (db) => {
      attempts += 1;
      if (attempts <= 5) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
      return attempts;
    });
    expect(await read).toBe(6);
    attempts = 0;
    const written = database.write(async (db) => {
      attempts += 1;
      if (attempts <= 5) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
      return attempts;
    });
    expect(await written).toBe(6);
    await database.close();
  });

  it('loses and doubles no acknowledged admission while the server restarts and crashes', async () => {
    const { store, other, close } = await backend.open();
    const { slug } = await addWorkspace(store, { running: 100_000, instances: 100_000, vcpus: 100_000 });
    let isDone = false;
    const acknowledged: { name: string; number: number }[] = [];
    const admitAll = async (each: typeof store): Promise<void> => {
      while (!isDone) {
        const item = { name: unique('n'), idempotencyKey: unique('key'), admissionId: unique('adm') };
        // As a client does: the same request again until it is answered.
        for (let isAnswered = false; !isAnswered && !isDone;) {
          try {
            acknowledged.push({ name: item.name, number: (await admitted(each, slug, item)).number });
            isAnswered = true;
          } catch (error) {
            expect((error as RopewalkError).problem.code).toBe('UNAVAILABLE');
          }
        }
      }
    };
    const loops = [store, store, other, other].map(admitAll);
    for (const mode of ['fast', 'immediate', 'fast'] as const) {
      const before = acknowledged.length;
      await running().restart(mode);
      await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(before + 20);
    }
    isDone = true;
    await Promise.all(loops);
    const rows = (await store.jobs.list({ workspace: slug, limit: 100_000 })).items;
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    const numbers = new Map(rows.map(({ name, number }) => [name, number]));
    for (const { name, number } of acknowledged) expect(numbers.get(name)).toBe(number);
    expect(rows.length).toBeLessThanOrEqual(acknowledged.length + loops.length);
    await close();
  });

  it('is migrated once by many processes that open it at the same moment', async () => {
    const url = await running().createDatabase();
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore({ url, file: '', migrate: true })));
    const [first] = stores;
    const { number } = first === undefined ? { number: 0 } : await opened(first, (await addWorkspace(first)).slug);
    expect(number).toBe(1);
    await Promise.all(stores.map((store) => store.close()));
    await expect(openStore({ url: await running().createDatabase(), file: '', migrate: false })).rejects.toMatchObject({
      problem: { code: 'CONFLICT' },
    });
  });

  it('admits at once what a database whose default isolation is stricter would refuse', async () => {
    const url = `${await running().createDatabase()}?options=${encodeURIComponent('-c default_transaction_isolation=repeatable\\ read')}`;
    const store = await openStore({ url, file: '', migrate: true });
    const other = await openStore({ url, file: '', migrate: false });
    const { slug } = await addWorkspace(store, { running: 1_000, instances: 1_000, vcpus: 1_000 });
    const made = await atOnce(100, { store, other }, (each) => admitted(each, slug));
    expect(new Set(made.map(({ number }) => number)).size).toBe(100);
    await Promise.all([store.close(), other.close()]);
    const database = openPostgres(url);
    const level = sql<{ transaction_isolation: string }>`show transaction_isolation`;
    expect((await database.read((db) => level.execute(db))).rows).toEqual([
      { transaction_isolation: 'repeatable read' },
    ]);
    expect((await database.write((db) => level.execute(db))).rows).toEqual([
      { transaction_isolation: 'read committed' },
    ]);
    await database.close();
  });

  it('says which privileges its role needs, and works with them', async () => {
    const url = await running().createDatabase();
    const role = unique('role').replace('-', '_');
    const owner = openPostgres(url);
    const asOwner = (text: string) => owner.write((db) => sql.raw(text).execute(db));
    await asOwner(`create role ${role} login password '${postgresPassword}'`);
    const open = () => openStore({ url: url.replace('//postgres:', `//${role}:`), file: '', migrate: true });
    const problem = {
      code: 'UNAVAILABLE',
      message: expect.stringContaining('permission denied for schema public'),
      hint: expect.stringContaining('GRANT CREATE ON SCHEMA public TO'),
    };
    await expect(open()).rejects.toMatchObject({ problem });
    await asOwner(`grant create on schema public to ${role}`);
    const store = await open();
    expect(await opened(store, (await addWorkspace(store)).slug)).toMatchObject({ number: 1 });
    await store.close();
    await owner.close();
  });

  it('says what is wrong with its URL, and never the password', async () => {
    const url = await running().createDatabase();
    const secret = 'an0ther-pass';
    const wrong = [
      url.replace(postgresPassword, secret),
      url.replace(/:\d+\//, ':1/').replace(postgresPassword, secret),
      url.replace(/\/\w+$/, '/missing'),
      url.replace('127.0.0.1', 'no-such-host.invalid'),
    ];
    for (const each of wrong) {
      const error = await openStore({ url: each, file: '', migrate: true }).then(
        () => null,
        (reason: RopewalkError) => reason,
      );
      expect(error?.problem).toMatchObject({
        code: 'UNAVAILABLE',
        hint: expect.stringContaining('ROPEWALK_DATABASE_URL'),
      });
      expectNoPassword(error, [secret, postgresPassword]);
    }
    for (const each of [`mysql://u:${secret}@h/d`, `u:${secret}@h/d`, `postgres://u:${secret}@h:port/d`, '']) {
      const error = await openStore({ url: each, file: '', migrate: true }).then(
        () => null,
        (reason: RopewalkError) => reason,
      );
      expect(error?.problem.code).toBe('VALIDATION');
      expectNoPassword(error, [secret]);
    }
  });
});

function expectNoPassword(error: unknown, passwords: string[]): void {
  for (let each = error; each instanceof Error; each = each.cause) {
    const text = `${each.message} ${each.stack} ${JSON.stringify(each)}`;
    for (const password of passwords) expect(text).not.toContain(password);
  }
}
