// Real pipes for a command's output. Node gives children sockets, and a socket cannot be reopened by name: every script with `>
// /dev/stderr` would fail. A named pipe works as a shell's pipe does. Creating one takes a process and a file, so a pipe that
// no process can have open serves the next command.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface Pipe {
  /** For the child; close it here once the child has it, or the output never ends. */
  writeEnd: number;
  /** The pipe is released when this closes. */
  output: Readable;
}

/** Named pipes that no process has open, by directory. They are created in batches. */
const spare = new Map<string, { paths: string[]; made: number }>();
const mostAtOnce = 32;
/** All existing pipes. */
const existing = new Set<string>();
process.on('exit', () => {
  for (const path of existing) rmSync(path, { force: true });
});

/** Both pipes of a command, or an error with nothing left open. */
export function createPipes(directory: string): { stdout: Pipe; stderr: Pipe } {
  const stdout = createPipe(directory);
  try {
    return { stdout, stderr: createPipe(directory) };
  } catch (error) {
    closeWriteEnd(stdout);
    stdout.output.destroy();
    throw error;
  }
}

export function createPipe(directory: string): Pipe {
  const path = takePath(directory);
  const opened: number[] = [];
  const openEnd = (flags: number): number => {
    const end = openSync(path, flags);
    opened.push(end);
    return end;
  };
  try {
    // Non-blocking, because the writer is opened next, by ourselves.
    const readEnd = openEnd(constants.O_RDONLY | constants.O_NONBLOCK);
    const writeEnd = openEnd(constants.O_WRONLY);
    const output = new Socket({ fd: readEnd, readable: true, writable: false });
    output.once('close', () => {
      // After the end of the output no writer is left. Otherwise one may remain, and would write into the next command's
      // output.
      if (output.readableEnded && !hasReader(path)) spare.get(directory)?.paths.push(path);
      else remove(path);
    });
    return { writeEnd, output };
  } catch (error) {
    for (const end of opened) closeSync(end);
    remove(path);
    throw error;
  }
}

export const closeWriteEnd = (pipe: Pipe): void => closeSync(pipe.writeEnd);

/** A command may have left a process that reads its own output, and would read the next one's. */
function hasReader(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  existing.delete(path);
  rmSync(path, { force: true });
}

function takePath(directory: string): string {
  const known = spare.get(directory) ?? { paths: [], made: 0 };
  spare.set(directory, known);
  const next = known.paths.pop();
  if (next !== undefined) return next;
  const count = Math.max(2, Math.min(mostAtOnce, known.made));
  const paths = Array.from({ length: count }, () => join(directory, `pipe-${randomBytes(6).toString('hex')}`));
  execFileSync('mkfifo', ['-m', '600', ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
  for (const path of paths) existing.add(path);
  known.made += count;
  known.paths = paths;
  return takePath(directory);
}
