// The commands of docs/operations.md for backup and restore, run unchanged except for the names of files.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { createFirstAdmin } from '../../ops/init/first-admin.ts';
import { testKeys } from '../platform/support.ts';
import { runCli } from '../cli/run-cli.ts';
import { findPostgres, postgresPassword, startPostgres } from '../store/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { makeHome, removeHome, startStack, type TestStack } from '../support/stack.ts';

const document = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
/** The one line of the document that matches. */
function line(pattern: RegExp): string {
  const [found, ...others] = document.match(new RegExp(pattern.source, 'gm')) ?? [];
  if (found === undefined || others.length > 0)
    throw new Error(`docs/operations.md has not one line ${pattern.source}`);
  return found.trim();
}

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-backup-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('SQLite', () => {
  const backUp = (file: string, backup: string): void => {
    const statement = line(/VACUUM INTO '[^']+'/).replace('/backup/ropewalk.db', backup);
    const database = new DatabaseSync(file, { readOnly: true });
    database.exec(statement);
    database.close();
  };

  it('is backed up while it is written: the copy is whole, and has what was acknowledged before', async () => {
    const file = join(directory, 'ropewalk.db');
    const store = await openStore({ url: null, file, migrate: true });
    let isDone = false;
    const made: string[] = [];
    const writing = (async () => {
      while (!isDone) {
        const slug = `w-${made.length}`;
        await createFirstAdmin(store, testKeys(), { workspace: slug, admin: 'ada' });
        made.push(slug);
      }
    })();
    await eventually(() => made.length > 20);
    const before = [...made];
    backUp(file, join(directory, 'backup.db'));
    isDone = true;
    await writing;
    await store.close();
    expect(new DatabaseSync(join(directory, 'backup.db')).prepare('PRAGMA integrity_check').all()).toEqual([
      { integrity_check: 'ok' },
    ]);
    const copy = await openStore({ url: null, file: join(directory, 'backup.db'), migrate: false });
    const slugs = (await copy.workspaces.list()).map(({ slug }) => slug);
    await copy.close();
    expect(slugs).toEqual(expect.arrayContaining(before));
  });

  it('of a stack is restored, and a reconciliation brings back what began after the backup', async () => {
    const home = await makeHome();
    const flag = join(home, 'may-end');
    const command = ['sh', '-c', `while [ ! -e "${flag}" ]; do sleep 0.1; done`];
    const stacks: TestStack[] = [];
    const start = async (): Promise<TestStack> => {
      // The scheduled reconciliation would otherwise run before the test's, at each fifth minute of the hour.
      const overrides = { reconcile: { everySeconds: 86_400, graceSeconds: 60 } };
      const stack = await startStack({ home, overrides });
      stacks.push(stack);
      return stack;
    };
    try {
      const first = await start();
      const { jobs } = createClient(first);
      const kept = await jobs.create({ command });
      backUp(join(home, 'ropewalk.db'), join(directory, 'backup.db'));
      const newer = await jobs.create({ command });
      const ended = await jobs.create({ command: ['true'] });
      await jobs.wait(ended.number);
      await first.stop();
      for (const name of (await readdir(home)).filter((each) => each.startsWith('ropewalk.db'))) {
        await rm(join(home, name));
      }
      await cp(join(directory, 'backup.db'), join(home, 'ropewalk.db'));

      const second = await start();
      const reconciled = await runCli(['reconcile'], { env: { ROPEWALK_HOME: home, HOME: home } });
      expect(reconciled.stdout).toContain(`job/${newer.number}  added: its workflow had no row`);
      expect(reconciled.code).toBe(0);
      const restored = createClient(second).jobs;
      const open = [kept.number, newer.number];
      expect(await restored.get(newer.number)).toMatchObject({ number: newer.number });
      // The number of the job that began and ended since then is not reused.
      expect((await restored.create({ command: ['true'] })).number).toBeGreaterThan(ended.number);
      await promisify(execFile)('touch', [flag]);
      for (const number of open) expect(await restored.wait(number)).toMatchObject({ status: 'done' });
      await second.stop();
    } finally {
      for (const stack of stacks) await stack.killAll('SIGKILL');
      await removeHome(home);
    }
  });
});

const found = await findPostgres();
if ('missing' in found) console.log(`The tests of PostgreSQL are left out. ${found.missing}`);

describe.runIf('directory' in found)('PostgreSQL', () => {
  it('is dumped and restored to what it was', async () => {
    const binaries = 'directory' in found ? found.directory : '';
    const server = await startPostgres(binaries);
    try {
      const url = await server.createDatabase();
      const { hostname, port, username, pathname } = new URL(url);
      const env = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: postgresPassword };
      const run = async (words: string): Promise<void> => {
        const [program = '', ...options] = words
          .replace('/backup', directory)
          .replace('--dbname=ropewalk', `--dbname=${pathname.slice(1)}`)
          .split(' ');
        await promisify(execFile)(join(binaries, program), options, { env });
      };
      const use = async <T>(migrate: boolean, what: (store: Store) => Promise<T>): Promise<T> => {
        const store = await openStore({ url, file: '', migrate });
        return what(store).finally(() => store.close());
      };
      await use(true, (store) => createFirstAdmin(store, testKeys(), { workspace: 'kept', admin: 'ada' }));
      await run(line(/^ *pg_dump .*$/));
      await use(false, (store) => createFirstAdmin(store, testKeys(), { workspace: 'later', admin: 'ada' }));
      await run(line(/^ *pg_restore .*$/));
      expect(await use(false, async (store) => (await store.workspaces.list()).map(({ slug }) => slug))).toEqual([
        'kept',
      ]);
    } finally {
      await server.stop();
    }
  });
});
