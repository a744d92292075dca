// The metadata server of a Compute Engine instance: its identity, its boot data, and the preemption notice.
import { setTimeout as sleep } from 'node:timers/promises';

export interface Metadata {
  /** null when the entry does not exist; rejects when the server does not answer after some attempts. */
  read(path: string): Promise<string | null>;
  /** Waits on the server for a change, for at most `seconds`; returns the value then. */
  waitForChange(path: string, seconds: number, signal: AbortSignal): Promise<string>;
}

const attempts = 5;
const firstPauseMs = 200;
/** The server is on the same host, so a longer wait is an outage. */
const attemptTimeoutMs = 5_000;

/** `host` is an emulator's; null for Google's. */
export function createMetadata(host: string | null): Metadata {
  const base = `http://${host ?? 'metadata.google.internal'}/computeMetadata/v1`;
  const ask = async (path: string, signal: AbortSignal): Promise<string | null> => {
    const response = await fetch(`${base}/${path}`, { headers: { 'metadata-flavor': 'Google' }, signal });
    const text = await response.text();
    if (response.ok) return text;
    if (response.status === 404) return null;
    throw new Error(`the metadata server answered ${response.status} for ${path}`);
  };
  return {
    read: async (path) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await ask(path, AbortSignal.timeout(attemptTimeoutMs));
        } catch (error) {
          if (attempt >= attempts) throw new Error(`The instance's metadata cannot be read: ${path}`, { cause: error });
        }
        await sleep(firstPauseMs * 2 ** (attempt - 1));
      }
    },
    waitForChange: async (path, seconds, signal) => {
      const timeout = AbortSignal.timeout(seconds * 1_000 + attemptTimeoutMs);
      const query = `wait_for_change=true&timeout_sec=${seconds}`;
      return (await ask(`${path}?${query}`, AbortSignal.any([signal, timeout]))) ?? '';
    },
  };
}
