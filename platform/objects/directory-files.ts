// Content of files in a directory of this machine, beside the other objects.
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { syncDirectory } from '../sync-directory.ts';
import { makeDirectory, orUnavailable } from './directory.ts';
import { checkedChunks } from './checked-chunks.ts';
import type { StreamedFiles } from './files.ts';
import { checkKey } from './key.ts';

/** `root` is the directory of the object store, which removes its abandoned temporary files (directory.ts). */
export function createDirectoryFiles(root: string): StreamedFiles {
  const base = resolve(root);
  const pathOf = (key: string): string => {
    checkKey(key);
    return join(base, ...key.split('/'));
  };
  const size = async (key: string): Promise<number | null> => {
    const found = await stat(pathOf(key)).catch(absent);
    return found?.isFile() === true ? found.size : null;
  };
  return {
    kind: 'streamed',
    size,
    async write(key, source, content) {
      const target = pathOf(key);
      const temporary = join(base, '.tmp', `${process.pid}-${randomBytes(12).toString('hex')}`);
      try {
        await makeDirectory(dirname(temporary));
        await receive(temporary, source, content);
        await makeDirectory(dirname(target));
        await rename(temporary, target);
        await syncDirectory(dirname(target));
      } catch (error) {
        throw orUnavailable(error, base);
      } finally {
        await rm(temporary, { force: true });
      }
    },
    async read(key) {
      const bytes = await size(key);
      return bytes === null ? null : { bytes, stream: createReadStream(pathOf(key)) };
    },
  };
}

async function receive(
  path: string,
  source: AsyncIterable<Uint8Array>,
  { sha256, maxBytes }: { sha256: string; maxBytes: number },
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of checkedChunks(source, { sha256, maxBytes })) await file.write(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

function absent(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
  throw error;
}
