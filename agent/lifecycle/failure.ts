// The last messages of a crashing agent, to its own log and from there to its cloud's. Never waits for long: an agent that
// cannot end would keep its instance running.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../logs/log.ts';

export interface LastWords {
  log: Pick<Log, 'write' | 'close'>;
  /** Sends unsent lines, where a sender exists. */
  flush: () => Promise<void>;
  deadlineMs?: number;
}

/** Longer than a flush takes by itself. */
const defaultDeadlineMs = 10_000;

/** Resolves when the message is sent, or at the deadline; never rejects. */
export async function sayLastWords(
  error: unknown,
  { log, flush, deadlineMs = defaultDeadlineMs }: LastWords,
): Promise<void> {
  log.write(`The agent broke down: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const said = log.close().then(flush);
  await Promise.race([said, sleep(deadlineMs)]).catch(() => undefined);
}
