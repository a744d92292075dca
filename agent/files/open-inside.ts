// Opens a file that another user's program may replace by a link at any moment: what was opened is checked, not what was asked for.
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { sep } from 'node:path';

/**
 * For reading. Rejects when the file is a symbolic link, or when it lies outside `within`; null where a link in its path may lead
 * anywhere.
 */
export async function openInside(path: string, within: string | null): Promise<FileHandle> {
  if (within === null) return open(path, 'r');
  // A named pipe in its place must not stop the agent.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const [opened, top] = await Promise.all([pathOf(file, path), realpath(within)]);
    if (opened.startsWith(top + sep)) return file;
    throw new Error('it was replaced by a link that leads out of its directory');
  } catch (error) {
    await file.close();
    throw error;
  }
}

const pathOf = (file: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);
