// The context of transfers: the client that plans them, and the API's addresses for files that pass through it.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Place } from '../../agent/files/http-file.ts';
import type { Client } from '../../sdk/client.ts';
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
const firstPauseMs = 250;

export async function withRepeats(signal: AbortSignal, work: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      signal.throwIfAborted();
      return await work(attempt);
    } catch (error) {
      const isFinal = error instanceof UsageError || placeFault(error) !== null || attempt === attempts;
      if (signal.aborted || isFinal) throw error;
      await sleep(firstPauseMs * 2 ** attempt, undefined, { signal });
    }
  }
}
