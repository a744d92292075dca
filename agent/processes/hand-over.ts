// Directories that the agent prepares for the user of tasks. Where the agent is root, a process of that user may at any moment
// put a link where root is about to write. So all of them follow one rule: root writes, and changes owners, only below
// directories that no other user can enter or write; a directory is handed over once, under a name that was never used before;
// afterwards root neither writes in it nor walks it, and its content is removed as its owner (emptyAs).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, lchown, lstat, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { InstanceFault } from './instance-fault.ts';
import type { TaskUser } from './task-user.ts';

type Ids = Pick<TaskUser, 'uid' | 'gid'>;

/** A path that no earlier directory had. `parent` belongs to the agent. */
export const freshPath = (parent: string, kind: string): string =>
  join(parent, `${kind}-${randomBytes(6).toString('hex')}`);

/** A new directory that stays the agent's: the user can open its files by name, and cannot change it. */
export async function makePassable(user: Ids | null, path: string): Promise<string> {
  await mkdir(path, { mode: 0o700 });
  if (user !== null) await chmod(path, 0o711);
  return path;
}

/** Creates a private file of the user, in a directory of the agent. Rejects when the file exists. */
export async function writeFor(user: Ids | null, path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    if (user !== null) await file.chown(user.uid, user.gid);
  } finally {
    await file.close();
  }
}

/** Creates a directory of the user, or takes the existing one without its content. `path` lies in a directory of the agent. */
export async function makeOwned(user: Ids, path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  const opened = await openDirectory(path);
  try {
    const { uid } = await opened.stat();
    if (uid === user.uid) return;
    if (uid !== process.getuid?.()) throw new Error(`${path} belongs to the user ${uid}: remove it.`);
    await opened.chown(user.uid, user.gid);
  } finally {
    await opened.close();
  }
}

/** Gives the user a directory of the agent with all its content: once. */
export async function handOver(user: Ids | null, directory: string): Promise<void> {
  await giveContents(user, directory);
  await giveDirectory(user, directory);
}

/**
 * The first half: until the second one, no process of the user can enter it. Rejects for a directory that is not the agent's
 * alone.
 */
export async function giveContents(user: Ids | null, directory: string): Promise<void> {
  if (user === null) return;
  try {
    requirePrivate(await lstat(directory));
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      await giveTree(user, join(directory, entry.name), entry.isDirectory());
    }
  } catch (error) {
    throw new InstanceFault('a directory could not be given to the user of tasks', error);
  }
}

export async function giveDirectory(user: Ids | null, directory: string): Promise<void> {
  if (user === null) return;
  try {
    const opened = await openDirectory(directory);
    try {
      requirePrivate(await opened.stat());
      await opened.chown(user.uid, user.gid);
    } finally {
      await opened.close();
    }
  } catch (error) {
    throw new InstanceFault('a directory could not be given to the user of tasks', error);
  }
}

/** Rejects when it is a link, or not a directory. */
export const openDirectory = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);

/** The user cannot reach it, so its type is still the agent's choice. */
async function giveTree(user: Ids, path: string, isDirectory: boolean): Promise<void> {
  if (isDirectory) {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      await giveTree(user, join(path, entry.name), entry.isDirectory());
    }
  }
  await lchown(path, user.uid, user.gid);
}

function requirePrivate(info: { isDirectory: () => boolean; uid: number; mode: number }): void {
  if (info.isDirectory() && info.uid === process.getuid?.() && (info.mode & 0o077) === 0) return;
  throw new Error('it is not a directory of the agent that no other user can enter');
}

/**
 * Removes a directory inside one of the agent's. Most are empty, which takes one system call. `user` is its possible owner,
 * null for the agent's own user. Rejects when something is left in it.
 */
export async function removeDirectory(directory: string, user: Ids | null = null): Promise<void> {
  try {
    await rmdir(directory);
  } catch {
    // A directory that was never handed over is out of the user's reach.
    const isGiven = user !== null && (await lstat(directory).catch(() => null))?.uid === user.uid;
    if (!isGiven) return rm(directory, { recursive: true, force: true, maxRetries: 2 });
    await emptyAs(user, directory);
    // Removes only an empty directory, and no link.
    await rmdir(directory);
  }
}

/**
 * Removes the content of a user's directory as that user: a surviving process of a task may put links there, which root would
 * follow anywhere. Never rejects; the directory itself stays.
 */
export async function emptyAs({ uid, gid }: Ids, directory: string): Promise<void> {
  // A directory without write permission for its owner must be made writable first.
  const script = 'cd -- "$1" && { find . -mindepth 1 -delete || { chmod -R u+rwX .; find . -mindepth 1 -delete; }; }';
  const env = { PATH: '/usr/bin:/bin' };
  await promisify(execFile)('sh', ['-c', script, 'sh', directory], { uid, gid, env }).catch(() => undefined);
}
