// Requests to the JSON API of Google Cloud Storage with Application Default Credentials. Uses fetch and Google's own
// authentication library: @google-cloud/storage would add its own retries, streams and promise wrappers to these five requests.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { GoogleAuth } from 'google-auth-library';

import { gcsFailure, type GcsAnswer } from './gcs-errors.ts';
import type { GcsLocation } from './location.ts';

export interface GcsRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** The URL path, e.g. `/storage/v1/b/BUCKET/o`. */
  path: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
}

export interface GcsClient {
  /** Returns an answer of any status except temporary failures. @throws RopewalkError UNAVAILABLE without an answer. */
  send(request: GcsRequest): Promise<GcsAnswer>;
  /** One attempt with streamed body and answer. @throws RopewalkError UNAVAILABLE without an answer. */
  stream(request: Omit<GcsRequest, 'body'>, body?: AsyncIterable<Uint8Array>): Promise<Response>;
}

export interface GcsClientOptions {
  accessToken?: () => Promise<string>;
  /** The first pause; each further one is twice as long. */
  pauseMs?: number;
  /** Aborts an attempt whose answer has not begun after this time. */
  answerWithinMs?: number;
}

const scope = 'https://www.googleapis.com/auth/devstorage.read_write';
const maxAttempts = 5;
const attemptTimeoutMs = 30_000;
/** A hanging server is an error after this many attempts, because people and workflows wait for it. */
const maxSilentAttempts = 3;
/** Additional time for an upload before its answer begins: a second for each MB. */
const uploadBytesPerMs = 1_000;
/** Google's list of repeatable errors: https://docs.cloud.google.com/storage/docs/retry-strategy. */
const temporary = new Set([408, 429, 500, 502, 503, 504]);

/** Makes no request. */
export function createGcsClient(location: GcsLocation, options: GcsClientOptions = {}): GcsClient {
  const { accessToken = defaultAccessToken(), pauseMs = 250, answerWithinMs = 5_000 } = options;
  const base = (location.endpoint ?? 'https://storage.googleapis.com').replace(/\/$/, '');
  const attempt = async (
    { method, path, query = {}, headers = {} }: Omit<GcsRequest, 'body'>,
    rest: RequestInit,
  ): Promise<Response> => {
    const authorization = `Bearer ${await accessToken()}`;
    const search = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`;
    return fetch(`${base}${path}${search}`, { method, headers: { ...headers, authorization }, ...rest });
  };
  return {
    async send(request) {
      let isRepeat = false;
      for (let count = 1; ; count += 1) {
        try {
          const body = request.body === undefined ? {} : { body: Buffer.from(request.body) };
          const beginsMs = answerWithinMs + (request.body?.byteLength ?? 0) / uploadBytesPerMs;
          const whole = AbortSignal.timeout(attemptTimeoutMs);
          const response = await begun(beginsMs, (silence) =>
            attempt(request, { ...body, signal: AbortSignal.any([whole, silence]) }),
          );
          const content = new Uint8Array(await response.arrayBuffer());
          if (!temporary.has(response.status) || count === maxAttempts)
            return { status: response.status, headers: response.headers, body: content, isRepeat };
          // 429 means that nothing was done.
          isRepeat ||= response.status !== 429;
        } catch (error) {
          const most = isSilence(error) ? maxSilentAttempts : maxAttempts;
          if (!isBroken(error) || count >= most) throw gcsFailure(error, location);
          isRepeat = true;
        }
        await sleep(pauseMs * 2 ** (count - 1) + randomInt(pauseMs));
      }
    },
    async stream(request, body) {
      try {
        // The caller limits the duration of an upload.
        if (body !== undefined) return await attempt(request, streaming(body));
        return await begun(answerWithinMs, (silence) => attempt(request, { signal: silence }));
      } catch (error) {
        throw gcsFailure(error, location);
      }
    },
  };
}

/** fetch accepts a stream only with `duplex`, which the DOM's types lack. */
function streaming(chunks: AsyncIterable<Uint8Array>): RequestInit & { duplex: 'half' } {
  const iterator = chunks[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(Uint8Array.from(next.value));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
  return { body, duplex: 'half' };
}

/** Aborts with a TimeoutError unless the answer begins in time. Its body may take longer. */
async function begun(withinMs: number, send: (silence: AbortSignal) => Promise<Response>): Promise<Response> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new DOMException('no answer in time', 'TimeoutError')), withinMs);
  try {
    return await send(silence.signal);
  } finally {
    clearTimeout(timer);
  }
}

const isSilence = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

/** The connection or the wait for an answer broke, which fetch reports as a TypeError with a cause. */
const isBroken = (error: unknown): boolean => isSilence(error) || (error instanceof TypeError && 'cause' in error);

function defaultAccessToken(): () => Promise<string> {
  // Without a project, which a bucket does not need, the library would run gcloud to find one.
  const auth = new GoogleAuth({ scopes: [scope], projectId: 'none' });
  return async () => (await auth.getAccessToken()) ?? '';
}
