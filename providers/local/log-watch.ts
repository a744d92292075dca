// Tells a follower of logs which files have changed, so that it need not look at thousands of them several times a second.
// The system's notices only save work: everything is looked at now and then all the same, and often where there are none (a
// directory that does not exist yet, a system that has run out of watches).
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Changes {
  /** Anything may have changed. */
  all: boolean;
  /** Names of files by their directory. */
  files: Map<string, Set<string>>;
}

export interface LogWatch {
  /** Before a directory is listed, so that nothing falls in between. Repeats are no error. */
  add: (directory: string) => void;
  /** Waits for changes since the last call; at the latest when it is time to look at everything. */
  next: () => Promise<Changes>;
  close: () => void;
}

const lookWatchedMs = 2_000;
const lookUnwatchedMs = 250;
/** A file that is written to is told of again and again: what comes together is read together. */
const settleMs = 50;

export function watchLogs(signal: AbortSignal | undefined): LogWatch {
  const watchers = new Map<string, FSWatcher>();
  const unwatched = new Set<string>();
  let changes: Changes = { all: false, files: new Map() };
  let wake = (): void => undefined;
  const note = (directory: string, file: string | null): void => {
    if (file === null || !file.endsWith('.jsonl')) changes.all = true;
    else changes.files.set(directory, (changes.files.get(directory) ?? new Set()).add(file));
    wake();
  };
  const drop = (directory: string): void => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
    unwatched.add(directory);
  };
  const add = (directory: string): void => {
    if (watchers.has(directory)) return;
    try {
      const watcher = watch(directory, { persistent: false }, (_, file) => note(directory, file));
      watcher.on('error', () => drop(directory));
      watchers.set(directory, watcher);
      unwatched.delete(directory);
    } catch {
      unwatched.add(directory);
    }
  };
  /** False when nothing came within this time. */
  const untilNoted = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (noted: boolean) => (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        wake = () => undefined;
        resolve(noted);
      };
      const timer = setTimeout(end(false), ms);
      const abort = end(false);
      wake = end(true);
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort);
    });
  return {
    add,
    next: async () => {
      const hasNews = changes.all || changes.files.size > 0;
      const noted = hasNews || (await untilNoted(unwatched.size > 0 ? lookUnwatchedMs : lookWatchedMs));
      if (noted) await sleep(settleMs);
      const found = noted ? changes : { ...changes, all: true };
      changes = { all: false, files: new Map() };
      return found;
    },
    close: () => {
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
