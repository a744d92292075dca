// A job's request, whose large files are not JavaScript strings: they are hashed and sealed as the bytes that came.
import { setImmediate as pause } from 'node:timers/promises';

import type { Bundle } from '../../schema/agent.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';

/** Base64, as a text or as the bytes of that text. */
export type Base64Text = string | Uint8Array;

export interface JobFile extends Omit<CreateJobParsed['files'][number], 'content'> {
  content: Base64Text;
}

export interface JobBody extends Omit<CreateJobParsed, 'files'> {
  files: JobFile[];
}

/** The first characters. */
export const startOfBase64 = (content: Base64Text, chars: number): string =>
  typeof content === 'string' ? content.slice(0, chars) : Buffer.from(content.subarray(0, chars)).toString('latin1');

/** A bundle before it is sealed. */
export interface UnsealedBundle extends Omit<Bundle, 'files'> {
  files: (Omit<Bundle['files'][number], 'contentBase64'> & { contentBase64: Base64Text })[];
}

/** As JSON. */
export function bundleBytes({ files, ...rest }: UnsealedBundle): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const add = (text: string): void => void parts.push(Buffer.from(text));
  add(`${JSON.stringify(rest).slice(0, -1)},"files":[`);
  for (const [at, { contentBase64, ...file }] of files.entries()) {
    add(`${at === 0 ? '' : ','}${JSON.stringify(file).slice(0, -1)},"contentBase64":"`);
    // Base64 needs no escapes.
    parts.push(typeof contentBase64 === 'string' ? Buffer.from(contentBase64) : contentBase64);
    add('"}');
  }
  add(']}');
  return joined(parts);
}

/** In pieces, between which the process answers other requests. */
async function joined(parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    for (let from = 0; from < part.byteLength; from += pieceBytes) {
      const piece = part.subarray(from, from + pieceBytes);
      all.set(piece, at);
      at += piece.byteLength;
      if (piece.byteLength === pieceBytes) await pause();
    }
  }
  return all;
}

/** Well below a millisecond. */
const pieceBytes = 512 * 1024;
