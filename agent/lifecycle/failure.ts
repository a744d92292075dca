// What an agent that breaks down still says: to its own log, and from there to its cloud's, before it ends. Never waits for
// long: an agent that cannot end would hold its instance.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../logs/log.ts';

export interface LastWords {
  log: Pick<Log, 'write' | 'close'>;
  /** Sends what is not sent yet, where a sender exists. */
  flush: () => Promise<void>;
  deadlineMs?: number;
}

/** More than a flush takes by itself. */
const defaultDeadlineMs = 10_000;

/** Resolves when it has been said, or when there is no more time for it; never rejects. */
export async function sayLastWords(
  error: unknown,
  { log, flush, deadlineMs = defaultDeadlineMs }: LastWords,
): Promise<void> {
  log.write(`The agent broke down: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const said = log.close().then(flush);
  await Promise.race([said, sleep(deadlineMs)]).catch(() => undefined);
}
