// A file that is new in a directory survives a crash of the machine only once the directory itself is written.
import { open } from 'node:fs/promises';

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
