// Reads what agents and tasks printed, from $ROPEWALK_HOME/logs/{workspace}/{cluster}/{instance}/. Merges files in time
// order without holding them: a file is opened for each piece that is read, and only once its first line is due.
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { LogLine, LogQuery } from '../provider.ts';
import { logDirectory, namesIn } from './files.ts';

/** What an agent says itself, and what its Dask process prints. */
const ofInstances = new Set(['agent.jsonl', 'process.jsonl']);
const followPollMs = 250;
const firstPieceBytes = 4 * 1024;
const pieceBytes = 64 * 1024;

/** How far one file has been read. Only whole lines count: the rest of a line may still be on its way. */
interface LogFile {
  path: string;
  instance: string;
  task: number | null;
  attempt: number | null;
  offset: number;
  ready: LogLine[];
}

/** Lines in time order. When following, first what is there, then what appears, until the signal aborts. */
export async function* readLogs(home: string, query: LogQuery): AsyncGenerator<LogLine> {
  const directory = logDirectory(home, query.owner);
  const files = new Map<string, LogFile>();
  const isWanted = (line: LogLine): boolean => query.sinceMs === undefined || line.atMs >= query.sinceMs;
  const isOver = (): boolean => query.signal?.aborted === true;
  await findFiles(directory, query, files);
  for await (const line of merge([...files.values()])) {
    if (isOver()) return;
    if (isWanted(line)) yield line;
  }
  while (query.follow === true && !isOver()) {
    await sleep(followPollMs, undefined, query.signal === undefined ? {} : { signal: query.signal }).catch(
      () => undefined,
    );
    await findFiles(directory, query, files);
    for await (const line of merge([...files.values()])) {
      if (isOver()) return;
      if (isWanted(line)) yield line;
    }
  }
}

async function findFiles(directory: string, query: LogQuery, files: Map<string, LogFile>): Promise<void> {
  for (const instance of await namesIn(directory)) {
    if (query.instance !== undefined && instance !== query.instance) continue;
    for (const name of await namesIn(join(directory, instance))) {
      const path = join(directory, instance, name);
      if (files.has(path)) continue;
      const [, task, attempt] = /^(\d+)-(\d+)\.jsonl$/.exec(name) ?? [];
      if (task === undefined && !ofInstances.has(name)) continue;
      const id = task === undefined ? null : Number(task);
      if (query.tasks !== undefined && (id === null || !query.tasks.includes(id))) continue;
      const of = { instance, task: id, attempt: attempt === undefined ? null : Number(attempt) };
      files.set(path, { path, ...of, offset: 0, ready: [] });
    }
  }
}

/** Files wait, ordered by their first line, until that line's turn: few of many overlap in time. */
async function* merge(files: LogFile[]): AsyncGenerator<LogLine> {
  const waiting: LogFile[] = [];
  for (const file of files) if (await fill(file, firstPieceBytes)) waiting.push(file);
  waiting.sort((a, b) => headMs(b) - headMs(a));
  const active: LogFile[] = [];
  for (;;) {
    let next = earliest(active);
    const waiter = waiting.at(-1);
    if (waiter !== undefined && (next === undefined || headMs(waiter) <= headMs(next))) {
      waiting.pop();
      active.push(waiter);
      next = waiter;
    }
    const line = next?.ready.shift();
    if (next === undefined || line === undefined) return;
    yield line;
    if (next.ready.length === 0 && !(await fill(next, pieceBytes))) active.splice(active.indexOf(next), 1);
  }
}

const headMs = (file: LogFile): number => file.ready[0]?.atMs ?? Number.POSITIVE_INFINITY;

function earliest(files: LogFile[]): LogFile | undefined {
  let found: LogFile | undefined;
  for (const file of files) if (found === undefined || headMs(file) < headMs(found)) found = file;
  return found;
}

/** Reads on until at least one whole line is ready; false at the end of what has been written. */
async function fill(file: LogFile, wantedBytes: number): Promise<boolean> {
  if (file.ready.length > 0) return true;
  const { size } = await stat(file.path);
  if (size <= file.offset) return false;
  const handle = await open(file.path, 'r');
  try {
    for (let bytes = wantedBytes; file.ready.length === 0; bytes *= 2) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, file.offset);
      const piece = buffer.subarray(0, bytesRead);
      const end = piece.lastIndexOf(10) + 1;
      if (end > 0) {
        file.offset += end;
        file.ready = piece
          .toString('utf8', 0, end - 1)
          .split('\n')
          .flatMap((text) => parseLine(file, text));
      } else if (bytesRead < bytes) return false;
    }
    return true;
  } finally {
    await handle.close();
  }
}

/** An agent killed in the middle of writing leaves half a line; everything else must still be readable. */
function parseLine(file: LogFile, text: string): LogLine[] {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('t' in value && 's' in value && 'x' in value)) return [];
    const { t, s, x } = value;
    if (typeof t !== 'number' || typeof x !== 'string') return [];
    if (s !== 'stdout' && s !== 'stderr' && s !== 'agent') return [];
    const { instance, task, attempt } = file;
    return [{ atMs: t, instance, task, attempt, stream: s, text: x }];
  } catch {
    return [];
  }
}
