// Whether a process has the keys of its deployment: new, rotated, restored from an old backup, or another deployment's.
import { expect, it } from 'vitest';

import { compareKeys, type KeyDecision, type KnownKeys, laterKeys, type OwnKeys } from '../../domain/known-keys.ts';

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

const renamed: KnownKeys = [{ kid: 'a', fingerprint: 'of another' }, ...known('b')];

it.each<[what: string, record: KnownKeys | null, other: KnownKeys | null, later: KnownKeys | null]>([
  ['no record', null, null, null],
  ['the only one', null, known('a'), known('a')],
  ['its own', known('a'), null, known('a')],
  ['its own beside an earlier one', known('a', 'b'), known('a'), known('a', 'b')],
  ['the other one, which continues it', known('a'), known('a', 'b'), known('a', 'b')],
  ['its own beside one without its newest key', known('a', 'b'), known('a', 'c', 'd'), known('a', 'b')],
  ['its own beside one that has another key under a known name', known('a'), renamed, known('a')],
])('of two records of keys: %s', (_what, record, other, later) => {
  expect(laterKeys(record, other)).toEqual(later);
});
