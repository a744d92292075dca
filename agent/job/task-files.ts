// The files a job brings along, written into each attempt's own directory and nowhere else.
import { mkdirSync } from 'node:fs';
import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, posix, resolve, sep } from 'node:path';

import type { Bundle } from '../../schema/agent.ts';

export interface TaskFile {
  /** Relative, with `/`, without `.` and `..`. */
  path: string;
  content: Buffer;
  executable: boolean;
}

/** Decodes once for all attempts. A path that cannot be used is kept and refused when it is written. */
export function unpackFiles(files: Bundle['files']): TaskFile[] {
  return files.map(({ path, contentBase64, executable }) => {
    const content = Buffer.from(contentBase64, 'base64');
    return { path: posix.normalize(path), content, executable: executable || hasInterpreter(content) };
  });
}

/** A script that names its interpreter is meant to be run. */
export const hasInterpreter = (content: Buffer): boolean => content.subarray(0, 2).toString('latin1') === '#!';

/** A fresh directory: what an earlier run of this very attempt left is removed. */
export async function prepareDirectory(directory: string, files: readonly TaskFile[]): Promise<void> {
  if (!makeDirectory(directory)) {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }
  for (const file of files) {
    const target = placeOf(directory, file.path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, file.content, { mode: file.executable ? 0o755 : 0o644, flag: 'wx' });
  }
}

/** Most tasks leave an empty one, which takes one call of the system. */
export async function removeDirectory(directory: string): Promise<void> {
  await rmdir(directory).catch(() => rm(directory, { recursive: true, force: true }));
}

/** False when it cannot be made as simply as that. */
function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

/** `wx` above does not follow a link, and directories are all made here: a path inside by its text is inside. */
function placeOf(directory: string, path: string): string {
  const target = resolve(directory, path);
  if (posix.isAbsolute(path) || path.includes('\0') || !target.startsWith(directory + sep)) {
    throw new Error(`the file ${JSON.stringify(path)} would lie outside the task's directory`);
  }
  return target;
}
