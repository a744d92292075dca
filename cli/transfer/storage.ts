// The context of transfers: the client that plans them, and the API's addresses for files that pass through it.
import { setTimeout as sleep } from 'node:timers/promises';

import { type Place, TransferError } from '../../agent/files/http-file.ts';
import type { Client } from '../../sdk/client.ts';
import { retryPauseMs } from '../../sdk/retry-pause.ts';
import { resolveConnection } from '../config.ts';
import type { CliContext, ConnectionFlags } from '../context.ts';
import { UsageError } from '../errors.ts';
import { placeFault } from './failure.ts';

export interface Storage {
  client: Client;
  /** The API's own place for the content of a file. */
  blob: (sha256: string) => Place;
  progress: (doing: string, done: number, total: number) => void;
}

export async function openStorage(context: CliContext, flags: ConnectionFlags, client: Client): Promise<Storage> {
  const { apiUrl, token } = await resolveConnection(flags, context);
  return {
    client,
    blob: (sha256) => ({
      url: `${apiUrl.replace(/\/+$/, '')}/v1/file-blobs/${sha256}`,
      headers: { authorization: `Bearer ${token}` },
    }),
    progress: (doing, done, total) => {
      // Without a terminal each text is a line, so only every ten percent are printed.
      const percent = Math.floor((done * 10) / total) * 10;
      context.output.progress(`${doing} ${total} ${total === 1 ? 'file' : 'files'}: ${percent} %`, `(${done} done)`);
    },
  };
}

/** Per request for URLs. */
export const filesAtOnce = 500;

export const transfersAtOnce = 4;
const attempts = 6;
/** With the doubling pauses six attempts take 15 s on average. */
const firstMs = 1_000;
const maxMs = 30_000;

export async function withRepeats(signal: AbortSignal, work: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      signal.throwIfAborted();
      return await work(attempt);
    } catch (error) {
      const isFinal = error instanceof UsageError || placeFault(error) !== null || attempt === attempts;
      if (signal.aborted || isFinal) throw error;
      const asked = error instanceof TransferError ? error.retryAfterMs : null;
      const retryAfterMs = asked === null ? null : Math.min(asked, maxMs);
      const pauseMs = retryPauseMs({ tries: attempt, retryAfterMs, firstMs, maxMs, random: Math.random() });
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
