// Notifies log followers of changed files, because polling thousands of files several times a second is too expensive. File
// system notifications only save work: all files are also checked from time to time, and often where notifications are
// unavailable (a directory that does not exist yet, a system without free watches).
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Changes {
  /** Any file may have changed. */
  all: boolean;
  /** Names of files by their directory. */
  files: Map<string, Set<string>>;
}

export interface LogWatch {
  /** Must be called before the directory is listed, or a change in between is missed. Repeated calls are harmless. */
  add: (directory: string) => void;
  /** Waits for changes since the last call, at most until all files are due for a check. */
  next: () => Promise<Changes>;
  close: () => void;
}

const checkWatchedMs = 2_000;
const checkUnwatchedMs = 250;
/** A file that is being written causes many notifications; those within this time cause one read. */
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
  /** False when no notification came within this time. */
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
      const hasChanges = changes.all || changes.files.size > 0;
      const noted = hasChanges || (await untilNoted(unwatched.size > 0 ? checkUnwatchedMs : checkWatchedMs));
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
