// Options in a script's header that only the client can carry out, because they refer to its files or its terminal. The server
// reads all others; the request lists those that the client has carried out.
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';

import { type HeaderOption, maxHeaderBytes, parseBatchHeader } from '../domain/batch-header.ts';
import type { CliContext } from './context.ts';

/** The names of `known` in the header, with their values as written, in the order of the script. */
export type ScriptHeader = ReadonlyMap<string, string[]>;

/** Reads the first file in the command that has a header. */
export async function readScriptHeader(
  words: readonly string[],
  known: ReadonlySet<string>,
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
): Promise<ScriptHeader> {
  for (const word of new Set(words)) {
    const text = await startOf(resolve(cwd, word.replace(/^~(?=\/)/, env['HOME'] ?? '~')));
    const { options, problems } = parseBatchHeader(text);
    if (options.length + problems.length > 0) return valuesOf(options, known);
  }
  return new Map();
}

/** Whether a header's flag is set: alone, or with a value that means yes. */
export function isSet(header: ScriptHeader, name: string): boolean {
  const value = header.get(name)?.at(-1);
  return value !== undefined && !['false', '0'].includes(value.toLowerCase());
}

function valuesOf(options: readonly HeaderOption[], known: ReadonlySet<string>): ScriptHeader {
  const values = new Map<string, string[]>();
  for (const { name, value } of options) {
    if (known.has(name)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  return values;
}

/** Empty for files that are not text. */
async function startOf(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return '';
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(maxHeaderBytes) });
    const start = buffer.subarray(0, bytesRead);
    return start.includes(0) ? '' : start.toString('utf8');
  } catch {
    return '';
  } finally {
    await file.close();
  }
}
