// Objects in a directory of this machine. A crash at any instant leaves the old bytes or the new ones: a put writes a
// temporary file, syncs it, renames it, and syncs the directories. Names that start with a dot are never objects.
import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { RopewalkError } from '../../domain/errors.ts';
import { syncDirectory } from '../sync-directory.ts';
import { checkKey, checkPrefix } from './key.ts';
import type { Objects } from './objects.ts';

/** Errors that end when the disk has room again or is back: callers may retry, as with an unavailable bucket. */
const passing: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its quota of disk space is used up',
  EROFS: 'its file system is read-only',
  EIO: 'its disk has failed',
};

/** The error of a write below `base`; UNAVAILABLE where a caller may retry. */
export function orUnavailable(error: unknown, base: string): unknown {
  const why = error instanceof Error && 'code' in error ? passing[String(error.code)] : undefined;
  if (why === undefined) return error;
  const message = `The object store cannot take anything: ${why}.`;
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint: `Its directory is ${base}.` }, { cause: error });
}

type Publish = (temporary: string, target: string) => Promise<void>;

export function createDirectoryObjects(root: string): Objects {
  const base = resolve(root);
  const temporaryDirectory = join(base, '.tmp');
  let cleaned: Promise<void> | null = null;
  const write = async (key: string, bytes: Uint8Array, publish: Publish): Promise<void> => {
    const target = pathOf(base, key);
    try {
      await store(target, bytes, publish);
    } catch (error) {
      throw orUnavailable(error, base);
    }
  };
  const store = async (target: string, bytes: Uint8Array, publish: Publish): Promise<void> => {
    await (cleaned ??= removeAbandoned(temporaryDirectory));
    await makeDirectory(dirname(target));
    const temporary = join(temporaryDirectory, `${process.pid}-${randomBytes(12).toString('hex')}`);
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await publish(temporary, target);
    } finally {
      await rm(temporary, { force: true });
    }
    await syncDirectory(dirname(target));
  };

  return {
    async put(key, bytes) {
      await write(key, bytes, rename);
    },

    async create(key, bytes) {
      try {
        // link() fails where rename() would replace.
        await write(key, bytes, link);
        return true;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
        throw error;
      }
    },

    async get(key) {
      const path = pathOf(base, key);
      try {
        return await readFile(path);
      } catch (error) {
        if (isAbsence(error)) return null;
        throw error;
      }
    },

    async delete(key) {
      const path = pathOf(base, key);
      try {
        await rm(path);
      } catch (error) {
        if (!isAbsence(error)) throw error;
      }
    },

    async list(prefix, { after = '', limit }) {
      const slash = prefix.lastIndexOf('/') + 1;
      const directory = prefix.slice(0, slash);
      checkPrefix(prefix);
      const found: string[] = [];
      await walk(base, directory, { prefix, after, limit }, found);
      return found;
    },
  };
}

const abandonedAfterMs = 3_600_000;

function pathOf(base: string, key: string): string {
  checkKey(key);
  return join(base, ...key.split('/'));
}

/** Depth first in the order of whole keys: a directory sorts as its name with the slash. */
async function walk(
  base: string,
  directory: string,
  query: { prefix: string; after: string; limit: number },
  found: string[],
): Promise<void> {
  for (const entry of await entriesOf(join(base, directory))) {
    if (found.length >= query.limit) return;
    const key = `${directory}${entry}`;
    const related = key.startsWith(query.prefix) || query.prefix.startsWith(key);
    if (!related) continue;
    if (!key.endsWith('/')) {
      if (key > query.after && key.startsWith(query.prefix)) found.push(key);
    } else if (key > query.after || query.after.startsWith(key)) {
      await walk(base, key, query, found);
    }
  }
}

async function entriesOf(path: string): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
  return entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile()))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** A new directory must itself survive a crash: its parents are synced, from the first one that existed. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made));
}

/** Removes temporary files of processes that were killed during a put; recent ones may belong to a live process. */
async function removeAbandoned(path: string): Promise<void> {
  await makeDirectory(path);
  for (const name of await readdir(path)) {
    const file = join(path, name);
    const age = await stat(file).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > abandonedAfterMs) await rm(file, { force: true });
  }
}

/** A directory in place of an object counts as absent. */
const isAbsence = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && absenceCodes.includes(String(error.code));
const absenceCodes = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR'];
