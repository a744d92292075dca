// Which contents a text may refer to.
import { expect, it } from 'vitest';

import { contentHashesIn } from '../../domain/content-hashes.ts';

it('a SHA-256 is found in any text, but not in longer hexadecimal', () => {
  const hash = 'ab'.repeat(32);
  expect(contentHashesIn('no hash')).toEqual([]);
  expect(contentHashesIn(`${hash}0 0${hash} ${hash.slice(1)}`)).toEqual([]);
  expect(contentHashesIn(`{"a":"${hash}","b":"{\\"c\\":\\"${hash}\\"}","d":"${hash}0"}`)).toEqual([hash, hash]);
});
