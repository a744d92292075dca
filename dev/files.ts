// Small files of the home directory, replaced whole: a reader, or the next start after a crash, sees all of one or none.
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';

import type { z } from 'zod';

export async function writeFileAtomic(path: string, text: string, mode = 0o644): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  const file = await open(temporary, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path).catch(async (error: unknown) => {
    await rm(temporary, { force: true });
    throw error;
  });
}

export const writeJsonAtomic = (path: string, value: unknown, mode?: number): Promise<void> =>
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, mode);

/** null when there is no such file; a file that is there but makes no sense is an error, never silently replaced. */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readTextOrNull(path);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is damaged: move it away, or restore it from a copy`, { cause });
  }
}

export async function readTextOrNull(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  });
}

export const isErrno = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
