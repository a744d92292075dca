// Opens files and directories of a task, whose processes may replace any of them by a link at any moment. Each name is opened
// in the previously opened directory, and no link is followed: the result lies in the task's directory, whatever is exchanged
// meanwhile.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

import { openDirectory } from '../processes/hand-over.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The path of an entry in an opened directory. Where the system has no such paths, the agent and its tasks run as one user. */
export const pathIn = (directory: FileHandle, path: string, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${directory.fd}/${name}` : join(path, name);

/**
 * Opens for reading. Rejects when it is not a regular file, or when a name of its path below `within` is a link; with `within`
 * null, links are followed.
 */
export async function openInside(path: string, within: string | null): Promise<FileHandle> {
  if (within === null) return open(path, 'r');
  const names = relative(within, path).split(sep);
  const name = names.pop() ?? '';
  let place = within;
  let directory = await openDirectory(within);
  try {
    for (const each of names) {
      const next = await openDirectory(pathIn(directory, place, each));
      await directory.close();
      directory = next;
      place = join(place, each);
    }
    // O_NONBLOCK: a substituted named pipe must not block the agent.
    const file = await open(pathIn(directory, place, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) throw new Error('it is no regular file any more');
      if (process.platform !== 'linux') await requireInside(path, within);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  } finally {
    await directory.close();
  }
}

async function requireInside(path: string, within: string): Promise<void> {
  const [opened, top] = await Promise.all([realpath(path), realpath(within)]);
  if (!opened.startsWith(top + sep)) throw new Error('it was replaced by a link that leads out of its directory');
}
