// A log file of JSON lines {"t": epoch ms, "s": stream, "x": text}, as the provider's logs() reads them. Bounded: a task
// that prints without end must not fill the disk. Secrets never come here: callers pass texts of their own.
import { createWriteStream } from 'node:fs';

export type Stream = 'stdout' | 'stderr' | 'agent';

export interface Log {
  /** One line of the agent's own. */
  write: (text: string) => void;
  /** Lines of a stream; false asks the caller to wait for `drained` before it sends more. */
  append: (stream: Stream, lines: string[]) => boolean;
  drained: () => Promise<void>;
  close: () => Promise<void>;
}

/** Bytes kept of one task's output. */
export const maxTaskLogBytes = 64 * 1024 * 1024;

export function createLog(path: string, maxBytes: number = maxTaskLogBytes): Log {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  // A full disk must not end the agent: tasks go on, only their output is lost.
  let broken = false;
  file.on('error', () => (broken = true));
  let written = 0;
  let full = false;
  const append = (stream: Stream, lines: string[]): boolean => {
    if (broken || full) return true;
    const t = Date.now();
    let text = '';
    for (const x of lines) {
      const line = `${JSON.stringify({ t, s: stream, x })}\n`;
      written += Buffer.byteLength(line);
      if (written > maxBytes) {
        full = true;
        const limit = maxBytes >= 1024 * 1024 ? `${Math.floor(maxBytes / 1024 / 1024)} MiB` : `${maxBytes} bytes`;
        const notice = `The output is over ${limit}: the rest is not kept. Let the task write large output to files.`;
        text += `${JSON.stringify({ t, s: 'agent', x: notice })}\n`;
        break;
      }
      text += line;
    }
    return file.write(text);
  };
  return {
    write: (text) => void append('agent', [text]),
    append,
    drained: () =>
      new Promise((resolve) => {
        if (broken || !file.writableNeedDrain) return resolve();
        file.once('drain', resolve).once('error', () => resolve());
      }),
    close: () =>
      new Promise((resolve) => {
        if (broken) return resolve();
        file.once('error', () => resolve());
        file.end(() => resolve());
      }),
  };
}
