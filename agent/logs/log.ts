// A log of JSON lines {"t": epoch ms, "s": stream, "x": text}, as the provider's logs() reads them. Bounded: a task that prints
// without end must not fill the disk. Contains no secrets: callers pass their own texts.
//
// A log is a sequence of parts, NAME.jsonl, NAME.1.jsonl, NAME.2.jsonl and so on. A full part is never changed or renamed, and
// the next one begins only after every byte of it is written, so a follower reads each line once. The oldest parts are removed
// when there are too many.
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

export type Stream = 'stdout' | 'stderr' | 'agent';

export interface Log {
  /** Writes one line of the agent itself. */
  write: (text: string) => void;
  /** Lines of a stream; false means that the caller must wait for `drained` before it sends more. */
  append: (stream: Stream, lines: string[]) => boolean;
  drained: () => Promise<void>;
  close: () => Promise<void>;
}

/** A closable log with its size on disk. */
export interface LogFile extends Log {
  bytes: () => number;
  /** Never rejects. */
  remove: () => Promise<void>;
}

export interface LogLimits {
  /** A part of this size is followed by another. */
  partBytes: number;
  /** Number of newest parts that are kept. */
  parts: number;
}

const mebibyte = 1024 * 1024;

/** The newest 64 MiB of one task's output, dropped one part at a time. */
export const taskLogLimits: LogLimits = { partBytes: 8 * mebibyte, parts: 8 };
/** Dask's processes print during their cluster's whole lifetime, possibly days. */
export const processLogLimits: LogLimits = { partBytes: 32 * mebibyte, parts: 8 };
/** Agents print little; an outage or a failing scheduler repeated for weeks must not add up. */
export const agentLogLimits: LogLimits = { partBytes: 4 * mebibyte, parts: 4 };

/** Unwritten bytes before callers must wait. */
const maxPendingBytes = 256 * 1024;

interface Line {
  text: string;
  bytes: number;
}

/** Its first file is created with its first line. */
export function createLog(path: string, limits: LogLimits = taskLogLimits): LogFile {
  const parts = createParts(path, limits);
  let pending: Line[] = [];
  let pendingBytes = 0;
  let writing: Promise<void> | null = null;
  const losses = countLosses();
  const waiters: (() => void)[] = [];
  const write = async (): Promise<void> => {
    while (pending.length > 0) {
      const lines = pending;
      pending = [];
      const report = losses.report();
      const all = report === null ? lines : [toLine('agent', report), ...lines];
      // A full disk must not end the agent: tasks continue, and their lines are counted instead.
      await parts.write(all).then(losses.end, (error: unknown) => losses.fail(lines.length, error));
      pendingBytes -= bytesOf(lines);
      for (const wake of waiters.splice(0)) wake();
    }
    writing = null;
  };
  const append = (stream: Stream, lines: string[]): boolean => {
    if (lines.length === 0) return true;
    if (losses.isPausing()) {
      losses.add(lines.length);
      return true;
    }
    const added = lines.map((text) => toLine(stream, text));
    pending.push(...added);
    pendingBytes += bytesOf(added);
    writing ??= write();
    return pendingBytes <= maxPendingBytes;
  };
  return {
    write: (text) => void append('agent', [text]),
    append,
    drained: async () => {
      while (pendingBytes > maxPendingBytes) await new Promise<void>((resolve) => waiters.push(resolve));
    },
    close: async () => {
      await writing;
      const report = losses.report();
      if (report !== null) await parts.write([toLine('agent', report)]).catch(() => undefined);
      await parts.close().catch(() => undefined);
    },
    bytes: parts.bytes,
    remove: () => parts.remove().catch(() => undefined),
  };
}

function toLine(stream: Stream, text: string): Line {
  const json = `${JSON.stringify({ t: Date.now(), s: stream, x: text })}\n`;
  return { text: json, bytes: Buffer.byteLength(json) };
}

const bytesOf = (lines: readonly Line[]): number => lines.reduce((sum, { bytes }) => sum + bytes, 0);

/** After a failed write no write is tried for this long. */
const pauseMs = 1_000;

/** Counts lines that could not be written, until a line reports them. */
function countLosses() {
  let count = 0;
  let why = '';
  let pausesUntilMs = 0;
  return {
    add: (lines: number): void => void (count += lines),
    fail: (lines: number, error: unknown): void => {
      count += lines;
      why = error instanceof Error ? error.message : String(error);
      pausesUntilMs = performance.now() + pauseMs;
    },
    /** Resets the count after it was reported. */
    end: (): void => void (count = 0),
    isPausing: (): boolean => performance.now() < pausesUntilMs,
    report: (): string | null => (count === 0 ? null : `${count} lines were lost: they could not be written (${why}).`),
  };
}

interface Parts {
  /** Writes everything, over as many parts as needed. */
  write: (lines: readonly Line[]) => Promise<void>;
  close: () => Promise<void>;
  /** Size of the kept parts. */
  bytes: () => number;
  remove: () => Promise<void>;
}

function createParts(path: string, { partBytes, parts }: LogLimits): Parts {
  const pathOf = (part: number): string => (part === 0 ? path : path.replace(/\.jsonl$/, `.${part}.jsonl`));
  let file: FileHandle | null = null;
  let part = 0;
  let written = 0;
  /** A failed write may have left half a line. */
  let isTorn = false;
  /** Sizes of the earlier kept parts. */
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
  const reopenLater = async (error: unknown): Promise<never> => {
    await file?.close().catch(() => undefined);
    file = null;
    throw error;
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
        const whole = isTorn ? `\n${text}` : text;
        isTorn = true;
        await file.appendFile(whole).catch(reopenLater);
        isTorn = false;
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
