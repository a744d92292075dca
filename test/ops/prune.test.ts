// `ropewalk prune` on a home without a running stack: which contents it deletes, and when it deletes none.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { openDatabase } from '../../ops/database.ts';
import { loadHost } from '../../ops/host.ts';
import { prepareKeys } from '../../ops/keys.ts';
import {
  addedFilesKey,
  blobKey,
  bundleKey,
  filestorePrefix,
  namedFilestore,
  ownFilestore,
  scheduleKey,
  taskFilesKey,
} from '../../platform/archive-keys.ts';
import { createDirectoryObjects } from '../../platform/objects/directory.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { createVault, type Vault } from '../../platform/vault/vault.ts';
import type { Store } from '../../store/store.ts';
import { runCli } from '../cli/run-cli.ts';
import { makeHome, removeHome } from '../support/stack.ts';

let home = '';
let store: Store;
let objects: Objects;
let vault: Vault;
beforeEach(async () => {
  home = await makeHome();
  const host = await loadHost(home);
  ({ store } = await openDatabase({ env: {}, home, host }));
  const { deploymentId } = host;
  const place = { home, keysSecret: null };
  const { keys } = await prepareKeys(place, { deploymentId, deployment: store.deployment, bucket: null });
  objects = createDirectoryObjects(join(home, 'objects'));
  vault = createVault(objects, keys);
});
afterEach(async () => {
  await store.close();
  await removeHome(home);
});

async function stored(text: string): Promise<string> {
  const sha256 = createHash('sha256').update(text).digest('hex');
  await objects.put(blobKey('w', sha256), Buffer.from(text));
  return sha256;
}

const left = async () =>
  (await objects.list('files/', { limit: 100 })).map((key) => key.slice('files/w/'.length)).toSorted();
const prune = (...words: string[]) => runCli(['prune', ...words], { env: { ROPEWALK_HOME: home, HOME: home } });
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const day = { ttlMs: 86_400_000 };

it('keeps what bundles, schedules and filestores name, and deletes the rest', async () => {
  const kept = await Promise.all(['input', 'list', 'of a schedule', 'output', 'added'].map(stored));
  const [input = '', list = '', scheduled = '', output = '', added = ''] = kept;
  const unused = [await stored('of an ended job'), await stored('of an expired bundle')];
  await vault.seal(
    bundleKey('w', 'adm-1'),
    json({ inputFiles: [{ sha256: input }], inputs: { list: { sha256: list } } }),
    day,
  );
  await vault.seal(scheduleKey('w', 'sch_1'), json({ mapOver: { list: { sha256: scheduled } } }), day);
  await vault.seal(bundleKey('w', 'adm-2'), json({ inputFiles: [{ sha256: unused[1] }] }), { ttlMs: -1 });
  const own = filestorePrefix('w', ownFilestore('adm-0'));
  await objects.put(taskFilesKey(own, { job: 1, task: 0, attempt: 1 }), json({ files: [{ sha256: output }] }));
  const named = filestorePrefix('w', namedFilestore('data'));
  await objects.put(addedFilesKey(named, { nowMs: 1, id: 'f1' }), json({ files: [{ sha256: added }] }));

  const dry = await prune('--dry-run', '--format', 'json');
  expect(JSON.parse(dry.stdout)).toEqual({ kept: 5, unused: 2, bytes: 35, dryRun: true });
  expect(await left()).toEqual([...kept, ...unused].toSorted());
  const done = await prune();
  expect([done.code, done.stdout]).toEqual([0, 'deleted 2 files (0.0 MiB) that nothing refers to; 5 in use\n']);
  expect(await left()).toEqual(kept.toSorted());
});

it('deletes nothing while an API process runs, and when a sealed object cannot be opened', async () => {
  const unused = await stored('nothing names it');
  await store.liveness.noteReplica('host_1:7300', 1_000);
  const running = await prune();
  expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('host_1:7300')]);
  await store.liveness.removeReplica('host_1:7300');
  await objects.put(bundleKey('w', 'adm-1'), json({ v: 1 }));
  const damaged = await prune();
  expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('nothing was deleted')]);
  expect(await left()).toEqual([unused]);
});

it('deletes nothing in the object store of another deployment', async () => {
  const unused = await stored('nothing here names it');
  await store.deployment.claimObjectStore('another');
  const { code, stderr } = await prune();
  expect([code, stderr, await left()]).toEqual([1, expect.stringContaining('are not those of the database'), [unused]]);
});
