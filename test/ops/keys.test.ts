// `ropewalk init` and `ropewalk dev` create keys only for a deployment that has none: after a loss of keys.json they refuse.
import { randomBytes } from 'node:crypto';
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { openDatabase } from '../../ops/database.ts';
import { checkKeys } from '../../ops/doctor/keys.ts';
import { loadHost } from '../../ops/host.ts';
import { createFirstAdmin } from '../../ops/init/first-admin.ts';
import { prepareKeys } from '../../ops/keys.ts';
import { deploymentMarkKey } from '../../platform/deployment-mark.ts';
import { requireDeployment } from '../../platform/deployment.ts';
import { createKeys, type Keys } from '../../platform/keys.ts';
import { openObjects } from '../../platform/objects/open.ts';
import type { Store } from '../../store/store.ts';
import { makeHome, removeHome } from '../support/stack.ts';

let home = '';
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => removeHome(home));

/** As `ropewalk init` does; `isUsed`: then the API starts. */
async function prepare({ isUsed = true } = {}): Promise<{ keys: Keys; isNew: boolean }> {
  const host = await loadHost(home);
  const { store } = await openDatabase({ env: {}, home, host });
  const { deployment } = store;
  const { deploymentId } = host;
  try {
    const prepared = await prepareKeys({ home, keysSecret: null }, { deploymentId, deployment, bucket: null });
    const row = await deployment.read();
    if (isUsed && row !== null) {
      const objects = await openObjects({ bucket: null, home });
      const parts = { home, bucket: null, objects, keys: prepared.keys, namespace: 'ropewalk' };
      await requireDeployment(parts, { ...row, claims: deployment });
    }
    return prepared;
  } finally {
    await store.close();
  }
}

async function loseDatabase(): Promise<void> {
  const names = (await readdir(home)).filter((name) => name.startsWith('ropewalk.db'));
  for (const name of names) await rm(join(home, name));
}
const loseKeys = (): Promise<void> => rm(join(home, 'keys.json'));
const hint = expect.stringMatching(/restore keys\.json from the backup.*docs\/operations\.md, "Lost keys"/);

it('creates the keys of a new deployment once', async () => {
  const first = await prepare();
  const second = await prepare();
  expect([first.isNew, second.isNew]).toEqual([true, false]);
  expect(second.keys.current).toEqual(first.keys.current);
});

it('creates no other keys when keys.json is missing, also before a process has used them', async () => {
  await prepare({ isUsed: false });
  await loseKeys();
  const { deploymentId } = await loadHost(home);
  await expect(prepare()).rejects.toMatchObject({
    message: `${home}/keys.json is missing, and deployment ${deploymentId} has keys (their fingerprints are in the database); none were created`,
    problem: { code: 'CONFLICT', hint },
  });
  expect(await readdir(home)).not.toContain('keys.json');
  expect(await checkKeys({ env: {}, home })).toMatchObject([
    { check: 'keys', state: 'broken', text: `There is no key file ${home}/keys.json.`, fix: hint },
  ]);
});

it('creates none when the database is lost too: the object store has recorded them', async () => {
  await prepare();
  await loseKeys();
  await loseDatabase();
  await expect(prepare()).rejects.toThrow(`(their fingerprints are in deployment/owner.json in ${home}/objects)`);
  expect(await readdir(home)).not.toContain('keys.json');
});

it('refuses other keys, and records nothing of them', async () => {
  await prepare();
  const text = await readFile(join(home, 'keys.json'));
  await loseKeys();
  await createKeys(join(home, 'keys.json'));
  const refusal = 'they lack the newest key that the database names';
  await expect(prepare()).rejects.toThrow(refusal);
  expect(await checkKeys({ env: {}, home })).toMatchObject([
    { state: 'broken', text: expect.stringContaining(refusal) },
  ]);
  await loseDatabase();
  await expect(prepare()).rejects.toThrow('they lack the newest key that deployment/owner.json in');
  await writeFile(join(home, 'keys.json'), text, { mode: 0o600 });
  expect((await prepare()).isNew).toBe(false);
  expect(await checkKeys({ env: {}, home })).toEqual([]);
});

it('lets the old key go where only `ropewalk init` has seen the new one beside it', async () => {
  await prepare();
  const both = await rotate();
  await prepare({ isUsed: false });
  await writeKeys({ ...both, keys: { [both.current]: both.keys[both.current] ?? '' } });
  expect((await prepare()).keys.current.kid).toBe(both.current);
});

it('accepts the database of a backup from before a key was given up, and still refuses the keys of that time', async () => {
  await prepare();
  const before = await readFile(join(home, 'keys.json'));
  await cp(join(home, 'ropewalk.db'), join(home, 'backup.db'));
  const both = await rotate();
  await prepare();
  await writeKeys({ ...both, keys: { [both.current]: both.keys[both.current] ?? '' } });
  await prepare();
  await loseDatabase();
  await rename(join(home, 'backup.db'), join(home, 'ropewalk.db'));
  expect((await prepare()).keys.current.kid).toBe(both.current);
  await writeFile(join(home, 'keys.json'), before);
  await expect(prepare()).rejects.toThrow('they lack the newest key that the database names');
});

it('creates new keys deliberately with the statements of docs/operations.md, "Lost keys"', async () => {
  const { keys: lost } = await prepare();
  await withStore((store) => createFirstAdmin(store, lost, { workspace: 'default', admin: 'ada' }));
  await loseKeys();
  const [, section = ''] = (await readFile('docs/operations.md', 'utf8')).split('### Lost keys');
  const statements = [...section.matchAll(/`((?:UPDATE|DELETE) [^`]*)`/g)].map(([, statement = '']) => statement);
  expect(statements).toHaveLength(2);
  const database = new DatabaseSync(join(home, 'ropewalk.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
  expect(section).toContain(`delete the object \`${deploymentMarkKey}\``);
  await (await openObjects({ bucket: null, home })).delete(deploymentMarkKey);
  const { keys, isNew } = await prepare();
  expect([isNew, keys.current.kid === lost.current.kid]).toEqual([true, false]);
  const admin = await withStore((store) => createFirstAdmin(store, keys, { workspace: 'default', admin: 'ada' }));
  expect(admin.token).not.toBeNull();
});

async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const { store } = await openDatabase({ env: {}, home, host: await loadHost(home) });
  return use(store).finally(() => store.close());
}

interface KeyFile {
  current: string;
  keys: Record<string, string>;
}

const writeKeys = (file: KeyFile): Promise<void> => writeFile(join(home, 'keys.json'), JSON.stringify(file));

/** Adds a key, and makes it the current one. */
async function rotate(): Promise<KeyFile> {
  const { keys }: KeyFile = JSON.parse(await readFile(join(home, 'keys.json'), 'utf8'));
  const both = { current: 'new', keys: { ...keys, new: randomBytes(32).toString('base64') } };
  await writeKeys(both);
  return both;
}
