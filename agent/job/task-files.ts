// The job's own files, written only into each attempt's directory.
import { mkdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, posix, resolve, sep } from 'node:path';

import type { Bundle } from '../../schema/agent.ts';
import { removeDirectory } from '../processes/hand-over.ts';
import type { TaskUser } from '../processes/task-user.ts';
import { InstanceFault, orInstanceFault } from '../processes/instance-fault.ts';

export interface TaskFile {
  /** Relative, with `/`, without `.` and `..`. */
  path: string;
  content: Buffer;
  executable: boolean;
}

/** Decodes once for all attempts. An unusable path is kept and refused when it is written. */
export function unpackFiles(files: Bundle['files']): TaskFile[] {
  return files.map(({ path, contentBase64, executable }) => {
    const content = Buffer.from(contentBase64, 'base64');
    return { path: posix.normalize(path), content, executable: executable || hasInterpreter(content) };
  });
}

/** A script with an interpreter line is meant to be executed. */
export const hasInterpreter = (content: Buffer): boolean => content.subarray(0, 2).toString('latin1') === '#!';

/**
 * Creates a fresh directory, removing that of an earlier run of this very attempt. Rejects with an InstanceFault where the
 * instance cannot store it, with another error where a file of the job is at fault.
 */
export async function prepareDirectory(
  directory: string,
  files: readonly TaskFile[],
  user: TaskUser | null = null,
): Promise<void> {
  if (!makeDirectory(directory)) await remakeDirectory(directory, user);
  for (const file of files) {
    const target = placeOf(directory, file.path);
    await orInstanceFault(`the job's file ${file.path} could not be written`, write(target, file));
  }
}

async function write(target: string, { content, executable }: TaskFile): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content, { mode: executable ? 0o755 : 0o644, flag: 'wx' });
}

/** Independent of the job: a failure here would occur for every task. */
async function remakeDirectory(directory: string, user: TaskUser | null): Promise<void> {
  try {
    await removeDirectory(directory, user);
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new InstanceFault("the task's directory could not be made", error);
  }
}

/** False when a plain mkdir fails. */
function makeDirectory(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

/** `wx` above does not follow links, and all directories are created here, so a path that is textually inside is inside. */
function placeOf(directory: string, path: string): string {
  const target = resolve(directory, path);
  if (posix.isAbsolute(path) || path.includes('\0') || !target.startsWith(directory + sep)) {
    throw new Error(`the file ${JSON.stringify(path)} would lie outside the task's directory`);
  }
  return target;
}
