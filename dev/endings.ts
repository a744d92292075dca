// Events that end a running stack besides a signal: the loss of its launcher, of the reader of its output, or of its database
// file.
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';

/**
 * Resolves when the other end of the file descriptor is closed: the launcher has it (bin/ropewalk.mjs), and the kernel closes
 * it also after SIGKILL. Never resolves for a stack without a launcher.
 */
export function launcherEnded(fd: string | undefined): Promise<void> {
  if (fd === undefined || !/^\d+$/.test(fd)) return new Promise(() => undefined);
  return new Promise((resolve) => {
    const link = new Socket({ fd: Number(fd), readable: true, writable: false });
    link.on('error', () => undefined);
    link.once('close', () => resolve());
    link.resume();
    link.unref();
  });
}

/**
 * Resolves when a line cannot be written because the reader has ended, as after `ropewalk dev | head -1`. From then on lines
 * are lost, and no write fails the process.
 */
export function outputClosed(streams: readonly NodeJS.WriteStream[]): Promise<void> {
  return new Promise((resolve) => {
    for (const stream of streams) stream.on('error', () => resolve());
  });
}

const checkEveryMs = 2_000;

/**
 * Resolves when the path no longer leads to its original file: SQLite continues on a deleted file, and all writes to it are
 * lost. Never rejects; ends with the signal.
 */
export async function fileLost(path: string, signal: AbortSignal): Promise<void> {
  const first = await stat(path).catch(() => null);
  return new Promise((resolve) => {
    const check = async (): Promise<void> => {
      const now = await stat(path).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : first));
      if (now !== null && now.ino === first?.ino && now.dev === first.dev) return;
      clearInterval(timer);
      resolve();
    };
    const timer = setInterval(() => void check(), checkEveryMs).unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  });
}
