import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { isHashOf, newTokenSecret, parseToken, tokenSecretFrom, tokenText } from '../../platform/token-secret.ts';
import { keySet, testKeys } from './support.ts';

it('reads the workspace, the id and the secret back from the text of a token', () => {
  const made = newTokenSecret(testKeys());
  expect(parseToken(tokenText('team-a', made))).toEqual({ workspace: 'team-a', id: made.id, secret: made.secret });
});

it('makes the same token of the same seed, and another one of another', () => {
  const [one, two] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  expect(tokenSecretFrom(testKeys(), one)).toEqual(tokenSecretFrom(testKeys(), one));
  expect(tokenSecretFrom(testKeys(), one).secret).not.toBe(tokenSecretFrom(testKeys(), two).secret);
});

it.each(['', 'rw_default', 'rw_default_short-secret', `rw_Default_${'a'.repeat(12)}-${'b'.repeat(43)}`])(
  'reads nothing from %j',
  (text) => {
    expect(parseToken(text)).toBeNull();
  },
);

it('knows a secret by its keyed hash: after a new key was added, and not without the key', () => {
  const made = newTokenSecret(testKeys());
  const later = testKeys({ kid: 'k2', seed: 2, others: [keySet('k1', 1)] });
  expect(isHashOf(testKeys(), made.secretHash, made.secret)).toBe(true);
  expect(isHashOf(later, made.secretHash, made.secret)).toBe(true);
  expect(isHashOf(testKeys(), made.secretHash, `${made.secret}x`)).toBe(false);
  expect(isHashOf(testKeys({ kid: 'k2', seed: 2 }), made.secretHash, made.secret)).toBe(false);
  expect(isHashOf(testKeys({ seed: 2 }), made.secretHash, made.secret)).toBe(false);
});

it('accepts no stored hash that was made without a key', () => {
  const { secret } = newTokenSecret(testKeys());
  const plain = createHash('sha256').update(secret).digest('hex');
  for (const written of [null, '', plain, `k1:${plain}`, `:${plain}`, 'k1:', 'k1', `k1:${'0'.repeat(64)}`]) {
    expect(isHashOf(testKeys(), written, secret)).toBe(false);
  }
});
