// Reads the output of agents and tasks from $ROPEWALK_HOME/logs/{workspace}/{cluster}/{instance}/. Merges logs in time order
// without holding them in memory: a file is opened for each piece that is read, and only once its first line is due.
import { basename, join } from 'node:path';

import type { LogLine, LogQuery } from '../provider.ts';
import { logDirectory, namesIn } from './files.ts';
import { fill, openLog, parseLogName } from './log-file.ts';
import type { LogFile } from './log-file.ts';
import { watchLogs } from './log-watch.ts';
import type { Changes, LogWatch } from './log-watch.ts';

const firstPieceBytes = 4 * 1024;
const pieceBytes = 64 * 1024;

/** Returns lines in time order. A follower gets the existing lines and then new ones, until the signal aborts. */
export async function* readLogs(home: string, query: LogQuery): AsyncGenerator<LogLine> {
  const state: ReadState = { directory: logDirectory(home, query.owner), query, logs: new Map() };
  const isWanted = (line: LogLine): boolean => query.sinceMs === undefined || line.atMs >= query.sinceMs;
  const isAborted = (): boolean => query.signal?.aborted === true;
  const watch = query.follow === true ? watchLogs(query.signal) : null;
  try {
    for (let changes: Changes = { all: true, files: new Map() }; ; changes = await watch.next()) {
      if (isAborted()) return;
      for await (const line of merge(await changedLogs(state, changes, watch))) {
        if (isAborted()) return;
        if (isWanted(line)) yield line;
      }
      if (watch === null) return;
    }
  } finally {
    watch?.close();
  }
}

interface ReadState {
  directory: string;
  query: LogQuery;
  /** By instance and name. */
  logs: Map<string, LogFile>;
}

async function changedLogs(state: ReadState, changes: Changes, watch: LogWatch | null): Promise<LogFile[]> {
  const { directory, query, logs } = state;
  if (!changes.all) {
    const named = [...changes.files].flatMap(([place, files]) =>
      [...files].map((file) => noteFile(state, place, file)),
    );
    return [...new Set(named)].filter((log) => log !== null);
  }
  watch?.add(directory);
  for (const instance of await namesIn(directory)) {
    if (query.instance !== undefined && instance !== query.instance) continue;
    const place = join(directory, instance);
    watch?.add(place);
    for (const file of await namesIn(place)) noteFile(state, place, file);
  }
  return [...logs.values()];
}

/** The log of a part file; null for another file, or one that the query excludes. */
function noteFile({ query, logs }: ReadState, directory: string, file: string): LogFile | null {
  const found = parseLogName(file);
  if (found === null) return null;
  if (query.tasks !== undefined && (found.task === null || !query.tasks.has(found.task))) return null;
  const key = join(directory, found.name);
  const log = logs.get(key) ?? openLog(directory, basename(directory), found);
  log.lastPart = Math.max(log.lastPart, found.part);
  logs.set(key, log);
  return log;
}

/** Files wait, ordered by their first line, until that line is due: few of many overlap in time. */
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
