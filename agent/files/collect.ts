// The files that a task left in its working directory: regular files that are new or changed. Links are not followed, so
// nothing outside the directory is collected.
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { isFilePath } from '../../domain/file-path.ts';
import { maxFileBytes, maxFilesOfTask } from '../../domain/file-limits.ts';
import { openDirectory } from '../processes/hand-over.ts';
import { pathIn } from './open-inside.ts';

/** Maps a path to a mark that distinguishes an unchanged file from a changed one without reading it. */
export type Snapshot = ReadonlyMap<string, string>;

export interface Collected {
  files: { path: string; bytes: number; executable: boolean }[];
  /** One sentence for each excluded file. */
  leftOut: string[];
}

/** Taken before the command starts. */
export async function snapshot(directory: string): Promise<Snapshot> {
  const marks = new Map<string, string>();
  await walk(directory, { file: (path, info) => void marks.set(path, markOf(info)), leaveOut: () => undefined });
  return marks;
}

export async function collect(directory: string, before: Snapshot): Promise<Collected> {
  const collected: Collected = { files: [], leftOut: [] };
  const leaveOut = (path: string, why: string): void => {
    if (collected.leftOut.length < maxLeftOut) collected.leftOut.push(`${JSON.stringify(path)} is not stored: ${why}.`);
  };
  await walk(directory, {
    file: (path, info) => {
      if (before.get(path) === markOf(info)) return;
      const bytes = Number(info.size);
      if (bytes > maxFileBytes) leaveOut(path, 'it has more than 5 GiB');
      else if (collected.files.length === maxFilesOfTask) leaveOut(path, `a task may leave ${maxFilesOfTask} files`);
      else collected.files.push({ path, bytes, executable: (Number(info.mode) & 0o111) !== 0 });
    },
    leaveOut,
  });
  return collected;
}

const maxLeftOut = 20;
/** Python's bytecode caches are not output. */
const skipped = new Set(['__pycache__']);

interface Visitor {
  file: (path: string, info: BigIntStats) => void;
  leaveOut: (path: string, why: string) => void;
}

async function walk(directory: string, visitor: Visitor): Promise<void> {
  const opened = await openDirectory(directory);
  try {
    await walkIn(opened, { directory, prefix: '' }, visitor);
  } finally {
    await opened.close();
  }
}

/** Walks below an open directory: root must not read a substituted one. */
async function walkIn(
  opened: FileHandle,
  { directory, prefix }: { directory: string; prefix: string },
  visitor: Visitor,
): Promise<void> {
  const { file, leaveOut } = visitor;
  for (const raw of await readdir(pathIn(opened, directory, '.'), { encoding: 'buffer' })) {
    const name = raw.toString('utf8');
    const path = `${prefix}${name}`;
    // A name that is not UTF-8 would be restored under another name.
    if (!Buffer.from(name).equals(raw) || !isFilePath(path)) {
      leaveOut(path, 'its name is not UTF-8, or longer than 255 bytes, or its path longer than 1,024');
      continue;
    }
    const found = pathIn(opened, directory, name);
    const info = await lstat(found, { bigint: true }).catch(() => null);
    if (info?.isDirectory() === true && !skipped.has(name)) {
      const below = await openDirectory(found).catch((error: unknown) => {
        if (isGone(error)) return null;
        throw error;
      });
      if (below === null) continue;
      await walkIn(below, { directory: join(directory, name), prefix: `${path}/` }, visitor).finally(() =>
        below.close(),
      );
    } else if (info?.isFile() === true) file(path, info);
    else if (info?.isSymbolicLink() === true) leaveOut(path, 'it is a symbolic link');
  }
}

/** The directory was removed meanwhile, or is now a link or a file. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(error.code));

const markOf = ({ size, mtimeNs, ctimeNs, ino, mode }: BigIntStats): string =>
  [size, mtimeNs, ctimeNs, ino, mode].join('/');
