// The home directory of one stack, and its lock: one stack at a time. The lock is a complete file, made by link(), that
// names its owner by pid and start time, so that the lock of a process that has ended is taken over.
import { randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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
  keyFile: string;
  database: string;
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
    keyFile: join(path, 'keys.json'),
    database: join(path, 'temporal.db'),
  };
}

/** Throws CONFLICT, naming the owner, when a living process has the home. */
export async function lockHome(home: Home): Promise<Lock> {
  const startTime = await startTimeOf(process.pid);
  if (startTime === null) throw new Error('cannot read the start time of this process, without which no lock is safe');
  const me: Owner = { pid: process.pid, startTime, token: randomUUID(), since: new Date().toISOString() };
  await take(home.lock, me, home.path);
  return {
    release: async () => {
      if ((await readOwner(home.lock))?.token === me.token) await rm(home.lock, { force: true });
    },
  };
}

const owner = z.object({ pid: z.number(), startTime: z.string(), token: z.string(), since: z.string() });
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
    if (await isSameProcess(other)) throw heldBy(other, home);
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

async function linkWhole(path: string, me: Owner): Promise<boolean> {
  const temporary = `${path}.${me.token}`;
  await writeFile(temporary, JSON.stringify(me), { flush: true });
  try {
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
