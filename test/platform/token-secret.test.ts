import { expect, it } from 'vitest';

import { newTokenSecret, parseToken, tokenSecretFrom, tokenText } from '../../platform/token-secret.ts';

it('reads the workspace, the id and the hash of the secret back from the text of a token', () => {
  const made = newTokenSecret();
  expect(parseToken(tokenText('team-a', made))).toEqual({ workspace: 'team-a', id: made.id, sha256: made.sha256 });
});

it('makes the same token of the same seed, and another one of another', () => {
  const [one, two] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  expect(tokenSecretFrom(one)).toEqual(tokenSecretFrom(one));
  expect(tokenSecretFrom(one).secret).not.toBe(tokenSecretFrom(two).secret);
});

it.each(['', 'rw_default', 'rw_default_short-secret', `rw_Default_${'a'.repeat(12)}-${'b'.repeat(43)}`])(
  'reads nothing from %j',
  (text) => {
    expect(parseToken(text)).toBeNull();
  },
);
