// A log of JSON lines {"t": epoch ms, "s": stream, "x": text}, as the provider's logs() reads them. Bounded: a task that
// prints without end must not fill the disk. Secrets never come here: callers pass texts of their own.
//
// A log is a row of parts, NAME.jsonl, NAME.1.jsonl, NAME.2.jsonl and so on. A part that is full is never touched again,
// nor renamed, and the next one begins only when every byte of it is written: so whoever follows reads each line once. The
// oldest parts are removed when there are too many.
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

export type Stream = 'stdout' | 'stderr' | 'agent';

export interface Log {
  /** One line of the agent's own. */
  write: (text: string) => void;
  /** Lines of a stream; false asks the caller to wait for `drained` before it sends more. */
  append: (stream: Stream, lines: string[]) => boolean;
  drained: () => Promise<void>;
  close: () => Promise<void>;
}

/** A log that is closed, and what it takes of the disk. */
export interface LogFile extends Log {
  bytes: () => number;
  /** Never rejects. */
  remove: () => Promise<void>;
}

export interface LogLimits {
  /** A part that has reached this is followed by another. */
  partBytes: number;
  /** The newest this many are kept. */
  parts: number;
}

const mebibyte = 1024 * 1024;

/** The newest 64 MiB of one task's output; a part is what is lost at a time. */
export const taskLogLimits: LogLimits = { partBytes: 8 * mebibyte, parts: 8 };
/** Dask's processes print for as long as their cluster lives, days perhaps. */
export const processLogLimits: LogLimits = { partBytes: 32 * mebibyte, parts: 8 };
/** Agents say little; an outage or a failing scheduler repeated for weeks must not add up. */
export const agentLogLimits: LogLimits = { partBytes: 4 * mebibyte, parts: 4 };

/** Bytes on their way to the disk before callers are asked to wait. */
const maxPendingBytes = 256 * 1024;

interface Line {
  text: string;
  bytes: number;
}

/** Its first file appears with its first line. */
export function createLog(path: string, limits: LogLimits = taskLogLimits): LogFile {
  const parts = createParts(path, limits);
  let pending: Line[] = [];
  let pendingBytes = 0;
  // A full disk must not end the agent: tasks go on, only their output is lost.
  let broken = false;
  let writing: Promise<void> | null = null;
  const waiters: (() => void)[] = [];
  const write = async (): Promise<void> => {
    while (pending.length > 0) {
      const lines = pending;
      pending = [];
      await parts.write(lines).catch(() => (broken = true));
      pendingBytes = broken ? 0 : pendingBytes - lines.reduce((sum, { bytes }) => sum + bytes, 0);
      if (broken) pending = [];
      for (const wake of waiters.splice(0)) wake();
    }
    writing = null;
  };
  const append = (stream: Stream, lines: string[]): boolean => {
    if (broken || lines.length === 0) return true;
    const t = Date.now();
    for (const x of lines) {
      const text = `${JSON.stringify({ t, s: stream, x })}\n`;
      const bytes = Buffer.byteLength(text);
      pending.push({ text, bytes });
      pendingBytes += bytes;
    }
    writing ??= write();
    return pendingBytes <= maxPendingBytes;
  };
  return {
    write: (text) => void append('agent', [text]),
    append,
    drained: async () => {
      while (!broken && pendingBytes > maxPendingBytes) await new Promise<void>((resolve) => waiters.push(resolve));
    },
    close: async () => {
      await writing;
      await parts.close().catch(() => undefined);
    },
    bytes: parts.bytes,
    remove: () => parts.remove().catch(() => undefined),
  };
}

interface Parts {
  /** In full, over as many parts as it takes. */
  write: (lines: readonly Line[]) => Promise<void>;
  close: () => Promise<void>;
  /** Of those that are kept. */
  bytes: () => number;
  remove: () => Promise<void>;
}

function createParts(path: string, { partBytes, parts }: LogLimits): Parts {
  const pathOf = (part: number): string => (part === 0 ? path : path.replace(/\.jsonl$/, `.${part}.jsonl`));
  let file: FileHandle | null = null;
  let part = 0;
  let written = 0;
  /** Of the parts before this one that are kept. */
  const full: number[] = [];
  const next = async (): Promise<void> => {
    await file?.close();
    file = null;
    full.push(written);
    if (full.length >= parts) full.shift();
    part += 1;
    written = 0;
    if (part >= parts) await rm(pathOf(part - parts), { force: true });
  };
  return {
    write: async (lines) => {
      for (let at = 0; at < lines.length;) {
        if (written >= partBytes) await next();
        let text = '';
        for (let line = lines[at]; line !== undefined && written < partBytes; line = lines[at]) {
          text += line.text;
          written += line.bytes;
          at += 1;
        }
        file ??= await open(pathOf(part), 'a', 0o600);
        await file.appendFile(text);
      }
    },
    close: async () => {
      await file?.close();
      file = null;
    },
    bytes: () => full.reduce((sum, bytes) => sum + bytes, written),
    remove: async () => {
      for (let each = part - full.length; each <= part; each += 1) await rm(pathOf(each), { force: true });
    },
  };
}
