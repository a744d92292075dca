// Reads a token from standard input. A terminal does not show it.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

import { Interrupted, UsageError } from './errors.ts';
import type { Output } from './output.ts';

const maxBytes = 10_000;

export async function readSecret(what: string, output: Output): Promise<string> {
  const { stdin } = process;
  const text = stdin.isTTY ? await typed(what, output) : await readAll(stdin);
  const secret = text.trim();
  if (secret === '')
    throw new UsageError(`standard input has no ${what}`, `For example: ropewalk login --token < file`);
  return secret;
}

async function typed(what: string, output: Output): Promise<string> {
  output.err(`Paste the ${what} (it is not shown) and press Enter:`);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  lines.once('line', resolve);
  lines.once('SIGINT', () => reject(new Interrupted('Interrupted: nothing was changed.')));
  lines.once('close', () => resolve(''));
  try {
    return await promise;
  } finally {
    lines.close();
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new UsageError('standard input is too long for a token');
  }
  return Buffer.concat(chunks).toString('utf8');
}
