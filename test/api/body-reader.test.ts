// The thread that reads large bodies.
import { expect, it } from 'vitest';

import { createBodyReader } from '../../api/large-bodies/reader.ts';

it('fails the bodies that it has when it ends, and the next one gets a new thread', async () => {
  const reader = createBodyReader(new URL('ending-thread.ts', import.meta.url));
  expect((await reader.read(Uint8Array.of(1, 2, 3))).parts).toBe(3);
  const failed = await Promise.allSettled([reader.read(Uint8Array.of(0)), reader.read(Uint8Array.of(1))]);
  expect(failed.map((one) => (one.status === 'rejected' ? String(one.reason) : one.status))).toEqual([
    'Error: the thread that reads large bodies ended with 3',
    'Error: the thread that reads large bodies ended with 3',
  ]);
  expect((await reader.read(Uint8Array.of(1, 2))).parts).toBe(2);
});

it('takes the bytes over', async () => {
  const bytes = new TextEncoder().encode('{"command":["true"]}');
  expect(await createBodyReader().read(bytes)).toEqual({
    problem: null,
    parts: 2,
    text: '{"command":["true"]}',
    contents: [],
  });
  expect(bytes.byteLength).toBe(0);
});
