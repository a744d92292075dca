// Real pipes for a command's output. Node gives children sockets, and a socket cannot be opened again by its name: every
// script with `> /dev/stderr` in it would fail. A named pipe, unlinked once both ends are open, is what a shell gives.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface Pipe {
  /** For the child; close it here once the child has it, or the end of the output is never seen. */
  writeEnd: number;
  output: Readable;
}

/** Named pipes that nobody has opened yet. Making one takes a process, so whoever needs many gets many at a time. */
const spare = new Map<string, { paths: string[]; made: number }>();
const mostAtOnce = 32;
process.on('exit', () => {
  for (const { paths } of spare.values()) for (const path of paths) rmSync(path, { force: true });
});

/** No pipe is ever used for two commands: what one leaves behind could still write into it. */
export function createPipe(directory: string): Pipe {
  const path = takePath(directory);
  try {
    // Without waiting for a writer: the writer is opened next, by ourselves.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writeEnd = openSync(path, constants.O_WRONLY);
    return { writeEnd, output: new Socket({ fd: readEnd, readable: true, writable: false }) };
  } finally {
    rmSync(path, { force: true });
  }
}

export const closeWriteEnd = (pipe: Pipe): void => closeSync(pipe.writeEnd);

function takePath(directory: string): string {
  const known = spare.get(directory) ?? { paths: [], made: 0 };
  spare.set(directory, known);
  const next = known.paths.pop();
  if (next !== undefined) return next;
  const count = Math.max(2, Math.min(mostAtOnce, known.made));
  const paths = Array.from({ length: count }, () => join(directory, `pipe-${randomBytes(6).toString('hex')}`));
  execFileSync('mkfifo', ['-m', '600', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
  known.made += count;
  known.paths = paths;
  return takePath(directory);
}
