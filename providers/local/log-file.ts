// Reads one log as its agent writes it: parts named NAME.jsonl, NAME.1.jsonl and so on, of which the oldest may have been
// removed. A part is complete once a later one exists. No file stays open between two reads, and only whole lines count: the
// agent may still be writing the rest of one.
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import type { LogLine } from '../provider.ts';
import { errorCode } from './files.ts';

export interface LogFile {
  directory: string;
  /** The file name without its part number and extension. */
  name: string;
  instance: string;
  task: number | null;
  attempt: number | null;
  /** The highest part known to exist. */
  lastPart: number;
  /** The position of the next read. */
  part: number;
  offset: number;
  /** Parts that were removed before they were fully read, and that no line has reported yet. */
  missed: number;
  ready: LogLine[];
}

export interface LogName {
  name: string;
  part: number;
  task: number | null;
  attempt: number | null;
}

/** null for a file that is not a log. */
export function parseLogName(fileName: string): LogName | null {
  const [, name, task, attempt, part] = logName.exec(fileName) ?? [];
  if (name === undefined) return null;
  return { name, part: numberOr(part, 0), task: numberOr(task, null), attempt: numberOr(attempt, null) };
}

/** The log of a task, of the agent, or of its Dask process. */
const logName = /^((\d+)-(\d+)|agent|process)(?:\.(\d+))?\.jsonl$/;

const numberOr = <T>(digits: string | undefined, other: T): number | T =>
  digits === undefined ? other : Number(digits);

export function openLog(directory: string, instance: string, { name, part, task, attempt }: LogName): LogFile {
  const of = { directory, name, instance, task, attempt };
  return { ...of, lastPart: part, part: 0, offset: 0, missed: 0, ready: [] };
}

/** Reads until at least one whole line is ready; false at the end of the log. */
export async function fill(log: LogFile, wantedBytes: number): Promise<boolean> {
  if (log.ready.length > 0) return true;
  for (;;) {
    // Noted before reading: only a read that begins after a later part appeared is known to reach the end of this one.
    const { lastPart } = log;
    const found = await readPiece(log, wantedBytes);
    if (found === 'lines') return true;
    if (lastPart <= log.part) return false;
    if (found === 'gone') log.missed += 1;
    log.part += 1;
    log.offset = 0;
  }
}

type Piece = 'lines' | 'end' | 'gone';

async function readPiece(log: LogFile, wantedBytes: number): Promise<Piece> {
  const path = join(log.directory, log.part === 0 ? `${log.name}.jsonl` : `${log.name}.${log.part}.jsonl`);
  try {
    if ((await stat(path)).size <= log.offset) return 'end';
    const file = await open(path, 'r');
    return await readLines(log, file, wantedBytes).finally(() => file.close());
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
}

async function readLines(log: LogFile, file: FileHandle, wantedBytes: number): Promise<Piece> {
  for (let bytes = wantedBytes; ; bytes *= 2) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, log.offset);
    const piece = buffer.subarray(0, bytesRead);
    const end = piece.lastIndexOf(newline) + 1;
    if (end > 0) {
      log.offset += end;
      log.ready = piece
        .toString('utf8', 0, end - 1)
        .split('\n')
        .flatMap((text) => parseLine(log, text));
      noteMissed(log);
    }
    if (log.ready.length > 0) return 'lines';
    if (end === 0 && bytesRead < bytes) return 'end';
  }
}

const newline = 10;

/** Reports missing parts before the next line. */
function noteMissed(log: LogFile): void {
  const [first] = log.ready;
  if (log.missed === 0 || first === undefined) return;
  const what = log.missed === 1 ? 'A part of this log has' : `${log.missed} parts of this log have`;
  const text = `${what} been removed: only its newest parts are kept. Let large output go to files.`;
  log.ready.unshift({ ...first, stream: 'agent', text });
  log.missed = 0;
}

/** An agent that is killed while it writes leaves half a line; everything else must still be readable. */
function parseLine(log: LogFile, text: string): LogLine[] {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('t' in value && 's' in value && 'x' in value)) return [];
    const { t, s, x } = value;
    if (typeof t !== 'number' || typeof x !== 'string') return [];
    if (s !== 'stdout' && s !== 'stderr' && s !== 'agent') return [];
    const { instance, task, attempt } = log;
    return [{ atMs: t, instance, task, attempt, stream: s, text: x }];
  } catch {
    return [];
  }
}
