// Sends an HTTP request to the API, and repeats it while that can help. The only file that calls `fetch`.
// The token is sent in the Authorization header only.
import type { Connection } from './connection.ts';
import { ConnectionError, errorFromResponse } from './errors.ts';
import type { RopewalkApiError } from './errors.ts';
import { retryPauseMs } from './retry-pause.ts';
import { sleep } from './sleep.ts';

export interface RequestOptions {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Bytes are sent unchanged, everything else as JSON. */
  body?: unknown;
  idempotencyKey?: string;
  /** Never repeated: a lost answer must not create a second token that no user knows of. */
  once?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Resolves with an ok response when its headers have arrived. All requests are safe to repeat, except those with `once`: they
 * read, they carry an Idempotency-Key, or they are idempotent (cancel, stop).
 */
export type SendRequest = (options: RequestOptions) => Promise<Response>;

export const maxTries = 5;
const headersTimeoutMs = 30_000;
const firstPauseMs = 300;
const maxPauseMs = 5_000;
/** A longer `Retry-After` is not awaited: the caller gets the error, with `retryAfterMs`. */
const maxRetryAfterMs = 30_000;

export function createRequest({ apiUrl: base, token, fetch: send }: Connection): SendRequest {
  return async (options) => {
    const url = urlOf(base, options);
    const init = initOf(token, options);
    for (let tries = 1; ; tries++) {
      options.signal?.throwIfAborted();
      const answer = await attempt(send, url, init, options.signal);
      if (answer instanceof Response) return answer;
      const pauseMs = options.once === true ? null : pauseAfter(answer, tries);
      if (pauseMs === null) throw answer;
      await sleep(pauseMs, options.signal);
    }
  };
}

/** Sends a request and parses the JSON answer. Throws ConnectionError when the connection is lost during the answer. */
export async function requestJson<T>(request: SendRequest, options: RequestOptions): Promise<T> {
  const response = await request(options);
  try {
    return trusted<T>(await response.json());
  } catch (cause) {
    options.signal?.throwIfAborted();
    throw new ConnectionError('the answer of the API was cut off or is not JSON', noAnswer(response.headers), {
      cause,
    });
  }
}

/**
 * The only cast of the SDK. Tests check that the API's answers follow schema/; checking them here again would ship zod to every
 * client.
 */
export function trusted<T>(value: unknown): T {
  return value as T;
}

function urlOf(base: string, { path, query = {} }: RequestOptions): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? `${base}${path}` : `${base}${path}?${search}`;
}

function initOf(token: string | null, { method, body, idempotencyKey }: RequestOptions): RequestInit {
  const headers = new Headers({ accept: 'application/json' });
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  if (body === undefined) return { method, headers };
  if (body instanceof Uint8Array) {
    headers.set('content-type', 'application/octet-stream');
    return { method, headers, body: Uint8Array.from(body) };
  }
  headers.set('content-type', 'application/json');
  return { method, headers, body: JSON.stringify(body) };
}

/** One attempt: an ok response, or the error. Throws only when the caller aborts. */
async function attempt(
  send: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Response | RopewalkApiError> {
  // Limits only the wait for headers: a followed log can last for days.
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error(`no answer in ${headersTimeoutMs / 1_000} s`)),
    headersTimeoutMs,
  );
  const signals = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
  try {
    const response = await send(url, { ...init, signal: signals });
    return response.ok ? response : errorFromResponse(response, await response.text());
  } catch (cause) {
    signal?.throwIfAborted();
    return new ConnectionError(
      `cannot reach the Ropewalk API at ${new URL(url).origin}: ${textOf(cause)}`,
      noAnswer(),
      {
        cause,
      },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds until the next attempt, or null when there is none. */
function pauseAfter(error: RopewalkApiError, tries: number): number | null {
  const helps = error.status === null || [429, 502, 503, 504].includes(error.status);
  if (!helps || tries >= maxTries || (error.retryAfterMs ?? 0) > maxRetryAfterMs) return null;
  const limits = { firstMs: firstPauseMs, maxMs: maxPauseMs };
  return retryPauseMs({ tries, retryAfterMs: error.retryAfterMs ?? null, ...limits, random: Math.random() });
}

function noAnswer(headers?: Headers): { code: string; status: null; hint: string; requestId: string | undefined } {
  return {
    code: 'CONNECTION',
    status: null,
    hint: 'Check the address, and that the API is running; `ropewalk dev` starts one on this machine.',
    requestId: headers?.get('x-request-id') ?? undefined,
  };
}

/** fetch reports only "fetch failed"; its cause has the reason, sometimes only as a code. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  if (cause.message !== '') return cause.message;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
