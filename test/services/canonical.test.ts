// The hash of a request: the same by both methods, with pauses for other requests while a large one is hashed.
import { expect, it } from 'vitest';

import { hashBody, hashLargeBody } from '../../services/jobs/canonical.ts';
import { turnsDuring } from '../support/event-loop-turns.ts';

const key = new Uint8Array(32);
const mebibyte = 1024 * 1024;

it.each([
  ['what is small', { b: [1, [], {}, null, undefined], a: { d: 'ü"\n', c: true } }],
  ['a long text', { files: [{ content: 'x'.repeat(5 * mebibyte) }], command: ['true'] }],
  ['a long list', { list: Array.from({ length: 200_000 }, (_, index) => ({ index })) }],
  // A surrogate pair is split between two pieces.
  ['a pair of surrogates at the end of a piece', `${'x'.repeat(mebibyte - 2)}😀${'x'.repeat(mebibyte)}`],
  ['half a character', `\ud83d${'x'.repeat(2 * mebibyte)}`],
])('is the same: %s', async (_what, body) => {
  expect(await hashLargeBody(body, key)).toBe(hashBody(body, key));
});

it('of 16 MiB gives other requests their turn', async () => {
  const body = { files: [{ content: 'x'.repeat(16 * mebibyte) }] };
  expect(await turnsDuring(() => hashLargeBody(body, key))).toBeGreaterThanOrEqual(16);
});
