// Splits a stream into lines for a log. A last line without a newline counts too, and an endless line is cut to bound the
// agent's memory.
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

import type { Log, Stream } from './log.ts';

/** Receives the lines of a stream; `append` returns false when the caller must wait for `drained`. */
export interface LineSink extends Pick<Log, 'append' | 'drained'> {
  /** Receives the unchanged bytes before they are split. */
  raw?: (stream: Stream, bytes: Uint8Array) => Promise<void>;
}

export const maxLineChars = 64 * 1024;

/** Resolves when the stream has ended or was destroyed; waits for a slow log. */
export async function copyLines(source: Readable, stream: Stream, log: LineSink): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of source) {
      await log.raw?.(stream, chunk);
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop() ?? '';
      const lines = parts.flatMap(cut);
      while (rest.length > maxLineChars) {
        lines.push(rest.slice(0, maxLineChars));
        rest = rest.slice(maxLineChars);
      }
      if (lines.length > 0 && !log.append(stream, lines)) await log.drained();
    }
  } catch {
    // Destroyed while an orphaned process still holds it; the received part is kept.
  }
  rest += decoder.end();
  if (rest !== '') log.append(stream, cut(rest));
}

function cut(line: string): string[] {
  if (line.length <= maxLineChars) return [line];
  return Array.from({ length: Math.ceil(line.length / maxLineChars) }, (_, at) =>
    line.slice(at * maxLineChars, (at + 1) * maxLineChars),
  );
}
