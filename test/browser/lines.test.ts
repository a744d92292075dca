// The stream of a page, without a browser: when it counts as lost.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { readLines } from '../../web/lines.ts';
import type { Session } from '../../web/session.ts';

// Only the token of a session is used.
const session = { token: 'rw_token' } as Session;
const encoder = new TextEncoder();
let stream: ReadableStreamDefaultController<Uint8Array> | null = null;

beforeEach(() => {
  vi.useFakeTimers();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      stream = controller;
    },
  });
  vi.stubGlobal('fetch', async (_path: string, { signal }: { signal: AbortSignal }) => {
    signal.addEventListener('abort', () => stream?.error(signal.reason));
    return new Response(body);
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** How the read ended; null while it runs. */
function follow(left: AbortController) {
  const seen: { lines: number[]; end: unknown } = { lines: [], end: null };
  readLines<number>(session, '/v1/live/jobs', left.signal, (line) => seen.lines.push(line)).then(
    () => (seen.end = 'whole'),
    (error: unknown) => (seen.end = error),
  );
  return seen;
}

it('a connection that has gone silent without an end, as after the sleep of a laptop, is given up', async () => {
  const seen = follow(new AbortController());
  await vi.advanceTimersByTimeAsync(0);
  stream?.enqueue(encoder.encode('1\n'));
  for (let beat = 0; beat < 10; beat += 1) {
    await vi.advanceTimersByTimeAsync(20_000);
    stream?.enqueue(encoder.encode('\n'));
  }
  await vi.advanceTimersByTimeAsync(20_000);
  expect(seen).toEqual({ lines: [1], end: null });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(seen.end).toMatchObject({ message: 'The connection has gone silent.' });
  expect(seen.end).not.toHaveProperty('isFinal', true);
});

it('a network that is unavailable has a text for people', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  const seen = follow(new AbortController());
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.end).toMatchObject({ message: 'The API cannot be reached.' });
});

it('leaving the page leaves no timer behind', async () => {
  const left = new AbortController();
  const seen = follow(left);
  await vi.advanceTimersByTimeAsync(0);
  left.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.end).not.toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});
