// Removes a directory with its content, whatever permissions tasks have set in it.
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Tasks leave read-only directories, such as package caches; the second attempt makes them writable first. */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    await openTree(directory);
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function openTree(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await openTree(join(directory, entry.name));
  }
}
