// Stores the output of a task's attempt: first the content of every file, then one record that makes all of them visible.
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { storedTaskFiles, type StoredFile } from '../../schema/files.ts';
import { jsonBy } from '../api-client/client.ts';
import type { Session } from '../api-client/session.ts';
import { collect, type Snapshot } from './collect.ts';
import { describeFile } from './http-file.ts';
import type { LocalFile, Transfers } from './transfers.ts';

export interface OutputInput {
  session: Pick<Session, 'call'>;
  transfers: Pick<Transfers, 'upload'>;
  directory: string;
  before: Snapshot;
  attempt: { task: number; taskId: number; attempt: number };
  /** Files outside the directory, by their stored path. */
  extra: readonly { path: string; source: string }[];
  say: (text: string) => void;
  signal: AbortSignal;
}

/** Rejects when they could not be stored: then none of them is visible. */
export async function storeOutput(input: OutputInput): Promise<void> {
  const { session, transfers, directory, before, attempt, extra, say, signal } = input;
  const { files, leftOut } = await collect(directory, before);
  for (const text of leftOut) say(text);
  const named = new Set(extra.map(({ path }) => path));
  const found = [
    ...files
      .filter(({ path }) => !named.has(path))
      .map((file) => ({ ...file, source: join(directory, file.path), within: directory })),
    ...extra.map((file) => ({ ...file, executable: false, within: null })),
  ];
  const stored: StoredFile[] = [];
  const local: LocalFile[] = [];
  for (const { path, source, executable, within } of found) {
    const content = await describe(source, within);
    stored.push({ path, executable, ...content });
    local.push({ source, within, ...content });
  }
  // An operator may delete content before a record refers to it (`ropewalk prune`): it is uploaded again.
  for (let round = 1; round <= maxRounds; round += 1) {
    await transfers.upload(local, signal);
    signal.throwIfAborted();
    const answer = await session.call({
      method: 'POST',
      path: '/v1/agent/task-files',
      body: () => ({ ...attempt, files: stored }),
      timeoutMs: recordTimeoutMs,
      read: jsonBy((json) => storedTaskFiles.parse(json)),
    });
    if (answer === null) throw new Error('the agent stops');
    if (answer.missing.length === 0) return;
  }
  throw new Error('the object store lost some of the files');
}

const maxRounds = 3;

/** The API checks each file in the object store. */
const recordTimeoutMs = 120_000;

async function describe(source: string, within: string | null): Promise<{ sha256: string; bytes: number }> {
  return describeFile(source, within).catch(async (error: unknown) => {
    // A task may leave a file that its own user may not read. Root can read it, and must not change a link's target.
    if (process.getuid?.() === 0) throw error;
    await chmod(source, 0o600);
    return describeFile(source, within);
  });
}

export const removeAll = async (paths: readonly string[]): Promise<void> => {
  for (const path of paths) await rm(path, { force: true });
};
