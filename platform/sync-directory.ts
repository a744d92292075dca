// A new file survives a crash of the machine only after its directory is synced.
import { open } from 'node:fs/promises';

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
