// The oracle of the kill matrix must find its violations: each ledger contains one planted error.
import { describe, expect, it } from 'vitest';

import type { LedgerEntry } from '../emulator/ledger.ts';
import { ec2 } from '../support/clouds.ts';
import { placesOf } from './matrix/cloud-places.ts';
import { judgeLedger } from './matrix/ledger.ts';

const deploymentId = 'dep_own';
const asked = [
  {
    cluster: 7,
    slots: [
      { fromMs: 0, count: 2 },
      { fromMs: 50, count: 3 },
      { fromMs: 80, count: 1 },
    ],
  },
];

const entry = (event: LedgerEntry['event'], id: string, atMs: number, tags: Record<string, string>): LedgerEntry => ({
  ...{
    event,
    id,
    atMs,
    type: 'm6i.large',
    zone: 'us-east-1a',
    market: 'on-demand',
    clientToken: '',
    hasPublicIp: true,
    why: '',
  },
  tags,
});
const tags = (role: string, cluster = 7, deployment = deploymentId): Record<string, string> => ({
  [ec2.tags.deployment]: deployment,
  [ec2.tags.cluster]: String(cluster),
  [ec2.tags.role]: role,
});
/** An instance that lived from one time to another, or still lives. */
const life = (id: string, owner: Record<string, string>, fromMs: number, toMs: number | null): LedgerEntry[] => [
  entry('launched', id, fromMs, owner),
  ...(toMs === null ? [] : [entry('ended', id, toMs, owner)]),
];
const judge = (entries: LedgerEntry[], open: number[] = []): string[] =>
  judgeLedger(
    entries.toSorted((a, b) => a.atMs - b.atMs),
    { deploymentId, asked, open: new Set(open), keys: ec2.tags },
  );

/** Two slots, one instance lost and replaced, three slots, one slot, ended. */
const sound = [
  ...life('i-head', tags('head'), 10, 100),
  ...life('i-lost', tags('worker'), 10, 30),
  ...life('i-replaced', tags('worker'), 30, 79),
  ...life('i-grown', tags('worker'), 55, 79),
];

describe('the oracle that reads a cloud’s ledger', () => {
  it('has nothing to say of a sound one, nor of other deployments and open clusters', () => {
    expect(judge(sound)).toEqual([]);
    expect(judge([...sound, ...life('i-other', tags('worker', 9, 'dep_other'), 1, null)])).toEqual([]);
    expect(judge(life('i-head', tags('head'), 10, null), [7])).toEqual([]);
  });

  it.each([
    ['a second worker in a slot, though only for a moment', life('i-bad', tags('worker'), 20, 21), 'i-lost, i-bad'],
    ['a replacement that came before the end', life('i-bad', tags('worker'), 29, 31), 'i-lost, i-bad'],
    ['a third worker after it had grown', life('i-bad', tags('worker'), 60, 70), 'i-replaced, i-grown, i-bad'],
    ['a worker after it had shrunk', life('i-bad', tags('worker'), 90, 95), 'i-bad'],
    ['a second head', life('i-bad', tags('head'), 40, 45), 'i-head, i-bad'],
    ['an instance that outlived its cluster', life('i-bad', tags('worker'), 56, null), 'i-bad live of cluster 7'],
    [
      'an instance of a cluster that was never requested',
      life('i-bad', tags('worker', 8), 40, 45),
      'i-bad of cluster 8',
    ],
    ['an instance without tags', life('i-bad', {}, 40, 45), 'i-bad has no owner'],
  ])('finds %s', (_, planted, words) => {
    const found = judge([...sound, ...planted]);
    expect(found.filter((text) => text.includes(words))).not.toEqual([]);
  });

  it('gives living instances the slots of their role, and says nothing of what the cloud never launched', () => {
    const places = placesOf(sound, ['i-grown', 'i-head', 'i-replaced', 'i-of-another-cloud'], ec2.tags);
    expect([...places].map(([id, { cluster, slot }]) => [id, cluster, slot])).toEqual([
      ['i-head', 7, 0],
      ['i-replaced', 7, 1],
      ['i-grown', 7, 2],
    ]);
  });
});
