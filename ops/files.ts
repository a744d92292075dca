// Small JSON and text files of the home directory. Written atomically (also with respect to crashes) and readable by their
// owner only.
import { readFile } from 'node:fs/promises';

import type { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import { errorCode, writeWhole } from '../providers/local/files.ts';

export const writeJson = (path: string, value: unknown): Promise<void> =>
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`);

/** null when the file does not exist; an invalid file is an error, never silently replaced. */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readTextOrNull(path);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    const hint = 'Restore it from a copy, or move it away.';
    throw new RopewalkError({ code: 'VALIDATION', message: `${path} is damaged`, hint }, { cause });
  }
}

export async function readTextOrNull(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
}
