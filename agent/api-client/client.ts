// HTTP to the API. An outage of the control plane does not stop the work: failures that may pass are retried forever, after
// growing pauses, until the signal aborts. The caller gets only the other answers.
import { setTimeout as sleep } from 'node:timers/promises';

import { agentAttemptMs, agentFirstPauseMs, agentMaxPauseMs } from '../../domain/liveness/limits.ts';
import { retryPauseMs } from '../../domain/retry-pause.ts';
import { sendHttp } from './http.ts';
import type { HttpAnswer } from './http.ts';
import { ownError } from './own-error.ts';
import { readRetryAfter } from './retry-after.ts';

export interface ApiRequest<T> {
  method: 'GET' | 'POST';
  path: string;
  /** Called for each attempt, because a late attempt must send the current state. */
  body?: () => unknown;
  token: () => string;
  /** Abandons the request when it aborts. */
  signal?: AbortSignal;
  /** Timeout of one attempt, for requests that the API may hold longer than usual. */
  timeoutMs?: number;
  /** Throws when the answer has an unexpected form: a proxy may answer 200 during an outage. */
  read: (bytes: Uint8Array) => T;
}

/** Parses a JSON answer. */
export const jsonBy =
  <T>(parse: (json: unknown) => T) =>
  (bytes: Uint8Array): T =>
    parse(JSON.parse(Buffer.from(bytes).toString('utf8')));

export type Reply<T> =
  | { kind: 'answer'; answer: T }
  | { kind: 'unauthenticated' }
  /** The API answered 403, 404 or 410: this instance has no more work. */
  | { kind: 'ended'; text: string }
  /** The same request would be refused again. `isOurs` is false when a proxy may have refused it before the API. */
  | { kind: 'refused'; text: string; isOurs: boolean };

export interface ApiClient {
  /** Rejects only when the signal of the client, or of the request, aborts. */
  call<T>(request: ApiRequest<T>): Promise<Reply<T>>;
}

export interface ApiClientOptions {
  apiUrl: string;
  signal: AbortSignal;
  /** Called once when an outage begins and once when it ends. */
  onTrouble: (text: string) => void;
  /** Called for every answer that shows a working control plane, which refusals and errors do not. */
  onHeard?: () => void;
}

export function createApiClient({ apiUrl, signal, onTrouble, onHeard }: ApiClientOptions): ApiClient {
  let troubledSinceMs: number | null = null;
  const noteTrouble = (text: string): void => {
    if (troubledSinceMs === null) onTrouble(`The API is unavailable; retrying: ${text}`);
    troubledSinceMs ??= performance.now();
  };
  const noteAnswer = (): void => {
    if (troubledSinceMs === null) return;
    onTrouble(`The API answers again after ${Math.round((performance.now() - troubledSinceMs) / 1000)} s.`);
    troubledSinceMs = null;
  };
  return {
    call: async (request) => {
      const ends = request.signal === undefined ? signal : AbortSignal.any([signal, request.signal]);
      for (let tries = 1; ; tries += 1) {
        const outcome = await attemptOnce(new URL(request.path, apiUrl), request, ends);
        const isForeign = outcome.kind === 'refused' && !outcome.isOurs;
        // An agent whose every request is refused must not count as connected.
        const isHeard = outcome.kind === 'retry' ? outcome.text === '' : outcome.kind !== 'refused';
        if (isHeard) onHeard?.();
        if (isForeign) noteTrouble(outcome.text);
        if (outcome.kind !== 'retry') {
          if (!isForeign) noteAnswer();
          return outcome;
        }
        ends.throwIfAborted();
        if (outcome.text !== '') noteTrouble(outcome.text);
        await sleep(pauseMs(tries, outcome.retryAfterMs), undefined, { signal: ends });
      }
    },
  };
}

/** An empty text needs no log line. */
type Attempt<T> = Reply<T> | { kind: 'retry'; text: string; retryAfterMs: number | null };

async function attemptOnce<T>(url: URL, request: ApiRequest<T>, signal: AbortSignal): Promise<Attempt<T>> {
  // A separate controller, because AbortSignal.any would leave a listener on the long-lived signal for every attempt.
  const attempt = new AbortController();
  const abort = (): void => attempt.abort();
  const timer = setTimeout(abort, request.timeoutMs ?? agentAttemptMs);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    const headers = { authorization: `Bearer ${request.token()}`, 'content-type': 'application/json' };
    const response = await sendHttp(url, {
      method: request.method,
      headers,
      signal: attempt.signal,
      body: request.body === undefined ? null : JSON.stringify(request.body()),
    });
    const { status, bytes } = response;
    if (status >= 200 && status < 300) return { kind: 'answer', answer: request.read(bytes) };
    return judgeError(response, url.pathname);
  } catch (error) {
    return { kind: 'retry', text: describeError(error), retryAfterMs: null };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function judgeError(response: HttpAnswer, path: string): Attempt<never> {
  const { status } = response;
  const own = ownError(response);
  // The object will exist within moments, so there is no outage pause and no log line.
  if (own?.code === 'NOT_YET') return { kind: 'retry', text: '', retryAfterMs: null };
  const text = `${path} answered ${status}${own === null ? ", and the answer is not the API's" : `: ${own.message}`}`;
  const retryAfterMs = readRetryAfter(response.headers['retry-after']);
  if (status >= 500 || status === 429 || status === 408) return { kind: 'retry', text, retryAfterMs };
  if (own === null) return { kind: 'refused', text, isOurs: false };
  if (status === 401) return { kind: 'unauthenticated' };
  if (status === 403 || status === 404 || status === 410) return { kind: 'ended', text };
  return { kind: 'refused', text, isOurs: true };
}

/** A long Retry-After is cut: a sleeping agent wastes its instance, and the control plane expects it again within `agentMaxPauseMs`. */
const pauseMs = (tries: number, retryAfterMs: number | null): number =>
  retryPauseMs({
    tries,
    retryAfterMs: retryAfterMs === null ? null : Math.min(retryAfterMs, agentMaxPauseMs - agentFirstPauseMs),
    firstMs: agentFirstPauseMs,
    maxMs: agentMaxPauseMs,
    random: Math.random(),
  });

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`.slice(0, 300);
}
