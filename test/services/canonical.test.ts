// The hash of a request: of a large one it is the same as of a small one, and leaves breaks for other requests.
import { expect, it } from 'vitest';

import { hashBody, hashLargeBody } from '../../services/jobs/canonical.ts';
import { turnsDuring } from '../support/event-loop-turns.ts';

const key = new Uint8Array(32);
const mebibyte = 1024 * 1024;

it.each([
  ['what is small', { b: [1, [], {}, null, undefined], a: { d: 'ü"\n', c: true } }],
  ['a long text', { files: [{ content: 'x'.repeat(5 * mebibyte) }], command: ['true'] }],
  ['a long list', { list: Array.from({ length: 200_000 }, (_, index) => ({ index })) }],
  // The first half of a character is the last of a piece, or its second half the first.
  ['a pair of surrogates at the end of a piece', `${'x'.repeat(mebibyte - 2)}😀${'x'.repeat(mebibyte)}`],
  ['half a character', `\ud83d${'x'.repeat(2 * mebibyte)}`],
])('is the same: %s', async (_what, body) => {
  expect(await hashLargeBody(body, key)).toBe(hashBody(body, key));
});

it('of 16 MiB gives other requests their turn', async () => {
  const body = { files: [{ content: 'x'.repeat(16 * mebibyte) }] };
  expect(await turnsDuring(() => hashLargeBody(body, key))).toBeGreaterThanOrEqual(16);
});
