// Creates a directory atomically, whatever happens to its builder. It is built beside its place and renamed into it when
// complete: a crash at any instant leaves nothing under the final name.
//
// The lock only saves work. If it broke at a bad moment, two would build, one rename would win, and the other copy would be
// dropped. That is why environments are relocatable instead of built in place, where a broken lock would do damage.
import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { giveDirectory, removeDirectory } from '../../processes/hand-over.ts';
import type { TaskUser } from '../../processes/task-user.ts';
import { isBuilding, thisBuilder } from './builder.ts';

export interface BuildOnce {
  cacheDir: string;
  target: string;
  /** True when the target can be used. An unusable target is replaced. */
  isComplete: (directory: string) => Promise<boolean>;
  /** Fills the directory, which exists and is empty. */
  build: (directory: string) => Promise<void>;
  /** Owner of the directory before it is filled; null for this process's own user. */
  user: TaskUser | null;
  /** Called when another process already builds it. */
  onWait?: () => void;
  signal: AbortSignal | undefined;
}

/** 'built' by this call, or 'found': it existed, or another builder finished first. */
export async function buildOnce(request: BuildOnce): Promise<'built' | 'found'> {
  const { cacheDir, target, isComplete, build, user } = request;
  if (await isComplete(target)) return 'found';
  const workshop = join(cacheDir, 'building');
  await mkdir(workshop, { recursive: true });
  await mkdir(dirname(target), { recursive: true });
  const lock = join(workshop, `${basename(target)}.lock`);
  const isOurs = await lockOrWait(lock, request);
  try {
    if (await isComplete(target)) return 'found';
    await sweep(workshop, user);
    const directory = join(workshop, `${basename(target)}.${thisBuilder()}.${randomName()}`);
    await mkdir(directory, user === null ? {} : { mode: 0o700 });
    await giveDirectory(user, directory);
    try {
      await build(directory);
      return await publish(directory, request);
    } finally {
      await discard(workshop, directory, user);
    }
  } finally {
    if (isOurs) await rm(lock, { force: true });
  }
}

/** Longer than any live build takes; then both build. */
const maxWaitMs = 10 * 60_000;
const checkEveryMs = 100;
/** The work of a builder on another machine is discarded after this long without a change. */
const maxAgeElsewhereMs = 60 * 60_000;

/** True when the lock is ours, false when the target exists or waiting for it took too long. */
async function lockOrWait(lock: string, { target, isComplete, onWait, signal }: BuildOnce): Promise<boolean> {
  const deadlineMs = performance.now() + maxWaitMs;
  let hasSaidSo = false;
  while (!(await claim(lock))) {
    if (!hasSaidSo) onWait?.();
    hasSaidSo = true;
    signal?.throwIfAborted();
    await sleep(checkEveryMs);
    if ((await isComplete(target)) || performance.now() > deadlineMs) return false;
  }
  return true;
}

async function claim(lock: string): Promise<boolean> {
  const temporary = `${lock}.${thisBuilder()}.${randomName()}`;
  await writeFile(temporary, thisBuilder(), { flag: 'wx' });
  try {
    await link(temporary, lock);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    const owner = await readFile(lock, 'utf8').catch(() => '');
    if (owner !== '' && !(await isAtWork(owner, lock))) await discard(dirname(lock), lock, null);
    return false;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function isAtWork(builder: string, path: string): Promise<boolean> {
  const known = isBuilding(builder);
  if (known !== null) return known;
  const changedMs = await stat(path).then(
    (found) => found.mtimeMs,
    () => 0,
  );
  return Date.now() - changedMs < maxAgeElsewhereMs;
}

/** Removes the work of dead builders. */
async function sweep(workshop: string, user: TaskUser | null): Promise<void> {
  for (const name of await readdir(workshop)) {
    const path = join(workshop, name);
    if (name.startsWith('removed.')) await removeDirectory(path, user).catch(() => undefined);
    const builder = /\.(\d+-[0-9a-f]{8}-[0-9a-f]{8})\.[0-9a-f]{12}$/.exec(name)?.[1];
    if (builder !== undefined && !(await isAtWork(builder, path))) await discard(workshop, path, user);
  }
}

/** Another builder's complete directory is equivalent; an unusable one is replaced. */
async function publish(
  directory: string,
  { cacheDir, target, isComplete, user }: BuildOnce,
): Promise<'built' | 'found'> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await rename(directory, target);
      return 'built';
    } catch (error) {
      if (!(hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST')) || attempt === 3) throw error;
      if (await isComplete(target)) return 'found';
      await discard(join(cacheDir, 'building'), target, user);
    }
  }
}

/**
 * Renamed first: a dead builder's surviving programs lose their path to it, and no reader takes a partial directory for a
 * complete one. The next build removes the rest.
 */
async function discard(workshop: string, path: string, user: TaskUser | null): Promise<void> {
  const removed = join(workshop, `removed.${randomName()}`);
  await rename(path, removed)
    .then(
      () => removeDirectory(removed, user),
      () => undefined,
    )
    .catch(() => undefined);
}

const randomName = (): string => randomBytes(6).toString('hex');

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
