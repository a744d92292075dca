// The home directory of one stack, and its lock: one stack at a time. The lock is a complete file, created by link(), that
// names its owner by pid and start time, so that the lock of an ended process is taken over. A pid is meaningless in another
// pid namespace, as with two containers on one home, so the owner also touches the file every few seconds.
import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readdir, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import { errorCode } from '../providers/local/files.ts';
import { isSameProcess, startTimeOf } from '../providers/local/processes.ts';
import { readTextOrNull } from '../ops/files.ts';

export interface Home {
  path: string;
  runDir: string;
  lock: string;
  stackFile: string;
  configFile: string;
  database: string;
}

/**
 * Temporal makes its database readable by all users, and the home may be an older directory that others can enter. SQLite gives
 * its other files the mode of this one. The server creates tables only in a file that it has created itself, so this runs after
 * its first start.
 */
export async function makePrivate(database: string): Promise<void> {
  for (const file of [database, `${database}-wal`, `${database}-shm`]) {
    await chmod(file, 0o600).catch(ignoreMissing);
  }
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}

export interface Lock {
  release: () => Promise<void>;
}

export async function openHome(path: string): Promise<Home> {
  const runDir = join(path, 'run');
  await mkdir(path, { recursive: true, mode: 0o700 });
  await mkdir(runDir, { recursive: true });
  return {
    path,
    runDir,
    lock: join(path, 'lock'),
    stackFile: join(runDir, 'stack.json'),
    configFile: join(path, 'config.yaml'),
    database: join(path, 'temporal.db'),
  };
}

/** Throws CONFLICT, naming the owner, when a live process has the home. */
export async function lockHome(home: Home): Promise<Lock> {
  const startTime = await startTimeOf(process.pid);
  if (startTime === null) throw new Error('cannot read the start time of this process, without which no lock is safe');
  const pidNamespace = await pidNamespaceOf();
  const me: Owner = { pid: process.pid, startTime, pidNamespace, token: randomUUID(), since: new Date().toISOString() };
  await take(home.lock, me, home.path);
  await removeLeftovers(home.lock, me);
  const touching = setInterval(() => void touch(home.lock), touchEveryMs).unref();
  return {
    release: async () => {
      clearInterval(touching);
      if ((await readOwner(home.lock))?.token === me.token) await rm(home.lock, { force: true });
    },
  };
}

const touchEveryMs = 5_000;
/** An owner in another pid namespace that has not touched its lock for this long has ended. */
const untouchedMs = 30_000;

const owner = z.object({
  pid: z.number(),
  startTime: z.string(),
  pidNamespace: z.string(),
  token: z.string(),
  since: z.string(),
});
type Owner = z.infer<typeof owner>;

/**
 * Two processes may find the same dead owner. The one that links `{lock}.after-{token of the dead one}` is its only successor
 * and replaces the lock; if it ends between the two steps, its own successor is found the same way.
 */
async function take(path: string, me: Owner, home: string): Promise<void> {
  for (;;) {
    if (await linkWhole(path, me)) return;
    const other = await readOwner(path);
    if (other === null) continue;
    if (await isAlive(path, other, me)) throw heldBy(other, home);
    const successor = `${path}.after-${other.token}`;
    await take(successor, me, home);
    const stillThere = (await readOwner(path))?.token === other.token;
    if (stillThere) {
      await rename(successor, path);
      return;
    }
    await rm(successor, { force: true });
  }
}

async function isAlive(path: string, other: Owner, me: Owner): Promise<boolean> {
  if (other.pidNamespace === me.pidNamespace) return isSameProcess(other);
  const touchedAtMs = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  return Date.now() - touchedAtMs < untouchedMs;
}

const touch = (path: string): Promise<void> => utimes(path, new Date(), new Date()).catch(() => undefined);

/** Linux names it `pid:[4026531836]`; elsewhere there is only one. */
const pidNamespaceOf = (): Promise<string> => readlink('/proc/self/ns/pid').catch(() => '');

/** Removes the files of processes that were killed, or ran out of disk space, while they took the lock. */
async function removeLeftovers(lock: string, me: Owner): Promise<void> {
  const prefix = `${basename(lock)}.`;
  for (const name of await readdir(dirname(lock))) {
    if (!name.startsWith(prefix)) continue;
    const path = join(dirname(lock), name);
    const other = await readOwner(path).catch(() => null);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    const isOld = Date.now() - mtimeMs >= untouchedMs;
    if (other === null ? isOld : !(await isAlive(path, other, me))) await rm(path, { force: true });
  }
}

async function linkWhole(path: string, me: Owner): Promise<boolean> {
  const temporary = `${path}.${me.token}`;
  try {
    await writeFile(temporary, JSON.stringify(me), { flush: true });
    await link(temporary, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readOwner(path: string): Promise<Owner | null> {
  const text = await readTextOrNull(path);
  return text === null ? null : owner.parse(JSON.parse(text));
}

const heldBy = (other: Owner, home: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `the home ${home} is in use by another stack: process ${other.pid}, since ${other.since}`,
    hint: 'Stop that one first (Ctrl-C there), or choose another home with ROPEWALK_HOME.',
  });
