// Whether a process has the keys of its deployment: new, rotated, restored from an old backup, or another deployment's.
import { expect, it } from 'vitest';

import { compareKeys, type KeyDecision, type KnownKeys, type OwnKeys } from '../../domain/known-keys.ts';

const known = (...kids: string[]): KnownKeys => kids.map((kid) => ({ kid, fingerprint: `of ${kid}` }));
const own = (current: string, ...others: string[]): OwnKeys => {
  const all = known(current, ...others);
  return {
    current: { kid: current, fingerprint: `of ${current}` },
    byKid: (kid) => all.find((key) => key.kid === kid) ?? null,
  };
};

it.each<[what: string, recorded: KnownKeys | null, keys: OwnKeys, decision: KeyDecision]>([
  ['the first keys of a deployment are recorded', null, own('a'), { do: 'record', keys: known('a') }],
  ['the same keys are accepted', known('a'), own('a'), { do: 'keep' }],
  ['an added key that is not current yet is not recorded', known('a'), own('a', 'b'), { do: 'keep' }],
  ['an added key is recorded after the older ones', known('a'), own('b', 'a'), { do: 'record', keys: known('a', 'b') }],
  ['an older key may be removed', known('a', 'b'), own('b'), { do: 'keep' }],
  ['an older key may be current again', known('a', 'b'), own('a', 'b'), { do: 'keep' }],
  ['other keys are refused', known('a'), own('x'), { do: 'refuse', why: 'missing' }],
  ['keys from before a rotation are refused', known('a', 'b'), own('a'), { do: 'refuse', why: 'missing' }],
  [
    'another key under a known name is refused',
    [{ kid: 'a', fingerprint: 'of another' }, ...known('b')],
    own('b', 'a'),
    { do: 'refuse', why: 'different' },
  ],
])('%s', (_what, recorded, keys, decision) => {
  expect(compareKeys(recorded, keys)).toEqual(decision);
});
