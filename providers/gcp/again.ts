// Retries an idempotent call: a list, a wait for an operation, a deletion. Google's library retries only reads, and not those
// that a rate limit refused with status 403.
import { setTimeout as sleep } from 'node:timers/promises';

import { answerOf } from './api-errors.ts';
import { classify } from './errors.ts';

const firstPauseMs = 250;
/** The pauses add up to 8 s. */
const maxAttempts = 6;

/** @throws the last attempt's error, or at once an error that a retry would not change. */
export async function again<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt === maxAttempts || !isPassing(error)) throw error;
    }
    await sleep(firstPauseMs * 2 ** (attempt - 1), undefined, signal === undefined ? {} : { signal });
  }
}

/** No answer arrived, Google had a fault, or a rate limit was hit. */
function isPassing(error: unknown): boolean {
  const answer = answerOf(error);
  if (answer === null) return isBrokenConnection(error);
  const { scope } = classify(answer.code, answer.message);
  return scope === 'throttle' || answer.status >= 500;
}

const brokenConnections = new Set(['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN']);

function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && brokenConnections.has(error.code)) return true;
  return /socket hang up/.test(error.message) || isBrokenConnection(error.cause);
}
