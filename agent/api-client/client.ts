// HTTP to the API. An outage of ours is no reason to stop working: what may pass is tried again for ever, with jitter,
// until the signal aborts. Only answers that mean something come back to the caller.
import { setTimeout as sleep } from 'node:timers/promises';

import { agentAttemptMs, agentMaxPauseMs } from '../../domain/limits.ts';
import { sendHttp } from './http.ts';
import type { HttpAnswer } from './http.ts';

export interface ApiRequest<T> {
  method: 'GET' | 'POST';
  path: string;
  /** Made anew for each attempt, so that a late attempt says what is true by then. */
  body?: () => unknown;
  token: () => string;
  /** Of one attempt, where the API may take longer than usual to answer. */
  timeoutMs?: number;
  /** Throws when the answer is not what was agreed: a proxy may answer 200 in the middle of an outage. */
  parse: (json: unknown) => T;
}

export type Reply<T> =
  | { kind: 'answer'; answer: T }
  | { kind: 'unauthenticated' }
  /** 403, 404, 410: nothing to do here any more. */
  | { kind: 'over'; text: string }
  /** What we said is not accepted, by the API or by a proxy before it: said again as it is, it would not be either. */
  | { kind: 'refused'; text: string };

export interface ApiClient {
  /** Rejects only when the signal aborts. */
  call<T>(request: ApiRequest<T>): Promise<Reply<T>>;
}

export interface ApiClientOptions {
  apiUrl: string;
  signal: AbortSignal;
  /** Told once when an outage begins and once when it is over. */
  onTrouble: (text: string) => void;
  /** Told of every answer by which the control plane shows that it is there; an error in its place is none. */
  onHeard?: () => void;
}

const firstRetryMs = 100;

export function createApiClient({ apiUrl, signal, onTrouble, onHeard }: ApiClientOptions): ApiClient {
  let troubledSinceMs: number | null = null;
  const noteTrouble = (text: string): void => {
    if (troubledSinceMs === null) onTrouble(`The API cannot be reached, trying on: ${text}`);
    troubledSinceMs ??= Date.now();
  };
  const noteAnswer = (): void => {
    if (troubledSinceMs === null) return;
    onTrouble(`The API answers again after ${Math.round((Date.now() - troubledSinceMs) / 1000)} s.`);
    troubledSinceMs = null;
  };
  return {
    call: async (request) => {
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await attemptOnce(new URL(request.path, apiUrl), request, signal);
        // A refusal may be a proxy's: an agent that is only ever refused must not live on it.
        const isHeard = outcome.kind === 'again' ? outcome.text === '' : outcome.kind !== 'refused';
        if (isHeard) onHeard?.();
        if (outcome.kind !== 'again') {
          noteAnswer();
          return outcome;
        }
        signal.throwIfAborted();
        if (outcome.text !== '') noteTrouble(outcome.text);
        await sleep(outcome.waitMs ?? backoffMs(attempt), undefined, { signal });
      }
    },
  };
}

/** An empty text is no trouble worth telling; without `waitMs` the back-off decides. */
type Attempt<T> = Reply<T> | { kind: 'again'; text: string; waitMs: number | null };

async function attemptOnce<T>(url: URL, request: ApiRequest<T>, signal: AbortSignal): Promise<Attempt<T>> {
  // A controller of its own, because AbortSignal.any would leave a trace on the long-lived signal for every attempt.
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
    const { status, text } = response;
    if (status >= 200 && status < 300) return { kind: 'answer', answer: request.parse(JSON.parse(text)) };
    // What is merely not there yet comes within moments: no pause as after an outage, and nothing to tell people.
    if (status === 503 && /"code"\s*:\s*"NOT_YET"/.test(text)) return { kind: 'again', text: '', waitMs: null };
    return judgeRefusal(response, `${url.pathname} answered ${status}${messageOf(text)}`);
  } catch (error) {
    return { kind: 'again', text: describeError(error), waitMs: null };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

function judgeRefusal(response: HttpAnswer, text: string): Attempt<never> {
  const { status } = response;
  if (status === 401) return { kind: 'unauthenticated' };
  if (status === 403 || status === 404 || status === 410) return { kind: 'over', text };
  if (status >= 500 || status === 429 || status === 408) return { kind: 'again', text, waitMs: retryAfterMs(response) };
  return { kind: 'refused', text };
}

/** Seconds or a date, never more than the cap: an agent that sleeps long is a wasted machine. */
function retryAfterMs(response: HttpAnswer): number | null {
  const header = response.headers['retry-after'];
  if (header === undefined || header === '') return null;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  if (Number.isNaN(waitMs)) return null;
  // Jitter on top, or all who were told the same come back at the same instant.
  return Math.min(agentMaxPauseMs, Math.max(0, waitMs) + Math.random() * firstRetryMs);
}

const backoffMs = (attempt: number): number =>
  Math.min(agentMaxPauseMs, firstRetryMs * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);

function messageOf(body: string): string {
  const [, message] = /"message"\s*:\s*"((?:[^"\\]|\\.){0,300})/.exec(body) ?? [];
  return message === undefined ? '' : `: ${message}`;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`.slice(0, 300);
}
