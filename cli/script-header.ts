// Options in the header of a script that only the client can carry out, because they name its files or its terminal. The server
// reads all others; the request names those that the client has carried out.
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { CliContext } from './context.ts';

/** The names of `known` that the header has, with their values as written, in the order of the script. */
export type ScriptHeader = ReadonlyMap<string, string[]>;

/** As the server reads headers (domain/batch-header.ts): of the first file that the command names and that has one. */
export async function readScriptHeader(
  words: readonly string[],
  known: ReadonlySet<string>,
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
): Promise<ScriptHeader> {
  for (const word of new Set(words)) {
    const text = await startOf(resolve(cwd, word.replace(/^~(?=\/)/, env['HOME'] ?? '~')));
    const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/, maxHeaderLine);
    const matches = lines.flatMap((line) => headerLine.exec(line) ?? []);
    if (matches.length > 0) return optionsOf(lines, known);
  }
  return new Map();
}

/** Whether a flag of the header is set: alone, or with a value that says yes. */
export function isSet(header: ScriptHeader, name: string): boolean {
  const value = header.get(name)?.at(-1);
  return value !== undefined && !['false', '0'].includes(value.toLowerCase());
}

const maxHeaderLine = 100;
const maxHeaderBytes = 64 * 1024;
const headerLine = /^\s*(?:#+|\/\/)\s*(?:ROPEWALK|COILED)(?![A-Za-z0-9_])[ \t]*:?([^]*)$/;
const optionText = /^(?:--)?([A-Za-z][A-Za-z0-9_-]*)(?:\s*=\s*(?=\S)|\s+|=?$)([^]*)$/;

function optionsOf(lines: readonly string[], known: ReadonlySet<string>): ScriptHeader {
  const options = new Map<string, string[]>();
  for (const line of lines) {
    const [, written, value = ''] = optionText.exec(headerLine.exec(line)?.[1]?.trim() ?? '') ?? [];
    const name = written?.replaceAll('_', '-').toLowerCase() ?? '';
    if (known.has(name)) options.set(name, [...(options.get(name) ?? []), unquote(value)]);
  }
  return options;
}

const unquote = (value: string): string => /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value.trim();

/** Empty for what is no text file. */
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
