// `ropewalk prune`: deletes contents of files that nothing refers to: uploads of ended jobs, lists of inputs, uploads that no job ever used. What
// refers to a file is sealed (the bundles of open jobs and of those that can be retried, the submissions of schedules) or an addition to a
// filestore. The API must be stopped: it accepts a file as uploaded before it writes the reference.
import { contentHashesIn } from '../domain/content-hashes.ts';
import { RopewalkError } from '../domain/errors.ts';
import { mapAtOnce } from '../domain/map-at-once.ts';
import { blobsPrefix, filestoresPrefix, sealedPrefix } from '../platform/archive-keys.ts';
import { noDeployment, requireDeployment } from '../platform/deployment.ts';
import type { Keys } from '../platform/keys.ts';
import { readKeysSecret } from '../platform/keys-location.ts';
import { type BucketLocation, readBucket } from '../platform/objects/location.ts';
import type { Objects } from '../platform/objects/objects.ts';
import { openFiles, openObjects } from '../platform/objects/open.ts';
import { openKeys } from '../platform/open-keys.ts';
import { createVault, DamagedEnvelope } from '../platform/vault/vault.ts';
import { exists } from '../providers/local/files.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { databasePlace } from './database.ts';
import { plural } from './plural.ts';
import { reporting, type Said } from './report.ts';
import { requireStoppedApi } from './running-api.ts';

export interface PruneOptions {
  env: Record<string, string | undefined>;
  home: string;
  dryRun: boolean;
  format: 'table' | 'json';
}

/** Returns the exit code. */
export async function runPrune({ env, home, dryRun, format }: PruneOptions, said: Said): Promise<number> {
  return reporting(said, async () => {
    const place = databasePlace(env, home);
    if (place.url === null && !(await exists(place.file))) throw noDeployment();
    const store = await openStore({ ...place, migrate: false });
    try {
      const own = { bucket: readBucket(env), home };
      await requireStoppedApi(store);
      const { objects, keys } = await openOwn(store, { ...own, keysSecret: readKeysSecret(env) });
      const found = await prune({ objects, keys, store, dryRun, ...own });
      if (format === 'json') said.json({ ...found, dryRun });
      else print(found, dryRun, said);
      return 0;
    } finally {
      await store.close();
    }
  });
}

interface Place {
  home: string;
  bucket: BucketLocation | null;
}

/** @throws RopewalkError CONFLICT when home, keys or object store are not those of the database. */
async function openOwn(
  store: Store,
  { keysSecret, ...place }: Place & { keysSecret: string | null },
): Promise<{ objects: Objects; keys: Keys }> {
  const deployment = await store.deployment.read();
  if (deployment === null) throw noDeployment();
  const keys = await openKeys({ home: place.home, keysSecret });
  const objects = await openObjects(place);
  const namespace = deployment.temporalNamespace ?? '';
  await requireDeployment({ ...place, objects, keys, namespace }, { ...deployment, claims: store.deployment });
  return { objects, keys };
}

interface Pruned {
  kept: number;
  unused: number;
  /** Of the unused ones. */
  bytes: number;
}

async function prune({
  objects,
  keys,
  store,
  dryRun,
  ...place
}: Place & { objects: Objects; keys: Keys; store: Store; dryRun: boolean }): Promise<Pruned> {
  const files = await openFiles(place);
  const used = await hashesInUse(objects, keys);
  const result: Pruned = { kept: 0, unused: 0, bytes: 0 };
  for await (const page of pagesOf(objects, blobsPrefix)) {
    // An API may have been started meanwhile.
    if (!dryRun) await requireStoppedApi(store);
    const unused = page.filter((key) => !used.has(key.slice(key.lastIndexOf('/') + 1)));
    await mapAtOnce(unused, atOnce, async (key) => {
      const bytes = (await files.size(key)) ?? 0;
      result.bytes += bytes;
      if (!dryRun) await objects.delete(key);
    });
    result.unused += unused.length;
    result.kept += page.length - unused.length;
  }
  return result;
}

/** @throws RopewalkError CONFLICT when an object cannot be read: it may refer to any file. */
async function hashesInUse(objects: Objects, keys: Keys): Promise<Set<string>> {
  const used = new Set<string>();
  const vault = createVault(objects, keys);
  const addAll = async (prefix: string, read: (key: string) => Promise<Uint8Array | null>): Promise<void> => {
    for await (const page of pagesOf(objects, prefix)) {
      await mapAtOnce(page, atOnce, async (key) => {
        // Null: it was deleted meanwhile, or has expired.
        const text = Buffer.from((await read(key)) ?? []).toString('utf8');
        for (const hash of contentHashesIn(text)) used.add(hash);
      });
    }
  };
  await addAll(sealedPrefix, (key) => vault.open(key)).catch((error: unknown) => {
    throw error instanceof DamagedEnvelope ? unreadable(error) : error;
  });
  await addAll(filestoresPrefix, (key) => objects.get(key));
  return used;
}

async function* pagesOf(objects: Objects, prefix: string): AsyncGenerator<string[]> {
  for (let after = ''; ;) {
    const page = await objects.list(prefix, { after, limit: pageSize });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    after = page.at(-1) ?? after;
  }
}

const pageSize = 1_000;
/** Sealed bundles have up to 16 MiB. */
const atOnce = 8;

const unreadable = (cause: DamagedEnvelope): RopewalkError =>
  new RopewalkError(
    {
      code: 'CONFLICT',
      message: `${cause.problem.message} It may refer to any file; nothing was deleted.`,
      hint: 'Restore it from a backup of the object store, or delete it: its job, cluster or schedule is lost either way.',
    },
    { cause },
  );

function print({ kept, unused, bytes }: Pruned, dryRun: boolean, said: Said): void {
  const size = `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  said.out(
    `${dryRun ? 'would delete' : 'deleted'} ${plural(unused, 'file')} (${size}) that nothing refers to; ${kept} in use`,
  );
}
