// Transfers files between this instance and the object store: the API returns the place, and each transfer is retried with a
// new place until it succeeds or has failed too often.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { maxFilesAtOnce } from '../../domain/file-limits.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import { retryPauseMs } from '../../domain/retry-pause.ts';
import { fileDownloads, fileUploads } from '../../schema/files.ts';
import { jsonBy } from '../api-client/client.ts';
import type { Session } from '../api-client/session.ts';
import { type Place, receiveFile, sendFile, TransferError } from './http-file.ts';

export interface LocalFile {
  /** Absolute, on this instance. */
  source: string;
  /** The directory that must contain it, whatever replaces it meanwhile; null for the agent's own file. */
  within: string | null;
  sha256: string;
  bytes: number;
}

export interface Transfers {
  /** Resolves when all contents are stored. Rejects when one fails for good, or the signal aborts. */
  upload(files: readonly LocalFile[], signal: AbortSignal): Promise<void>;
  /** Creates `target` with the content. Rejects with a MissingFile when no stored content has that SHA-256. */
  download(file: { sha256: string; target: string }, signal: AbortSignal): Promise<void>;
}

export class MissingFile extends Error {}

export const transfersAtOnce = 4;
const attempts = 8;
/** With the doubling pauses eight attempts take 45 s on average: a restart of the API costs no task. */
const firstMs = 1_000;
const maxMs = 30_000;

export function createTransfers({ session, apiUrl }: { session: Session; apiUrl: string }): Transfers {
  const blob = (sha256: string): Place => ({
    url: new URL(`/v1/agent/file-blobs/${sha256}`, apiUrl).href,
    headers: { authorization: `Bearer ${session.token()}` },
  });
  const placesOf = async (files: readonly LocalFile[]): Promise<Map<string, Place>> => {
    const answer = await session.call({
      method: 'POST',
      path: '/v1/agent/file-uploads',
      body: () => ({ files: files.map(({ sha256, bytes }) => ({ sha256, bytes })) }),
      read: jsonBy((json) => fileUploads.parse(json)),
    });
    if (answer === null) throw new Error('the agent stops');
    return new Map(
      answer.uploads.map(({ sha256, url, headers }) => [sha256, url === null ? blob(sha256) : { url, headers }]),
    );
  };
  return {
    async upload(files, signal) {
      for (let from = 0; from < files.length; from += maxFilesAtOnce) {
        const batch = files.slice(from, from + maxFilesAtOnce);
        const places = await placesOf(batch);
        await mapAtOnce(
          batch.filter(({ sha256 }) => places.has(sha256)),
          transfersAtOnce,
          async (file) => {
            let place = places.get(file.sha256);
            await withRepeats(signal, async (attempt) => {
              // Signed URLs expire, and the content may be stored by now.
              if (attempt > 1) place = (await placesOf([file])).get(file.sha256);
              if (place !== undefined) await sendFile({ path: file.source, within: file.within }, place, signal);
            });
          },
        );
      }
    },

    async download({ sha256, target }, signal) {
      await withRepeats(signal, async () => {
        const answer = await session.call({
          method: 'POST',
          path: '/v1/agent/file-downloads',
          body: () => ({ sha256s: [sha256] }),
          read: jsonBy((json) => fileDownloads.parse(json)),
        });
        if (answer === null) throw new Error('the agent stops');
        const [found] = answer.downloads;
        if (found?.isStored !== true) throw new MissingFile('its content is not in the object store any more');
        await rm(target, { force: true });
        await receiveFile(target, sha256, found.url === null ? blob(sha256) : { url: found.url, headers: {} }, signal);
      });
    },
  };
}

async function withRepeats(signal: AbortSignal, work: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      signal.throwIfAborted();
      return await work(attempt);
    } catch (error) {
      if (signal.aborted || error instanceof MissingFile || attempt === attempts) throw error;
      const asked = error instanceof TransferError ? error.retryAfterMs : null;
      const retryAfterMs = asked === null ? null : Math.min(asked, maxMs);
      const pauseMs = retryPauseMs({ tries: attempt, retryAfterMs, firstMs, maxMs, random: Math.random() });
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
