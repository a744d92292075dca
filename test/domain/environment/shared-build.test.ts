// The builder of an environment that many instances need, in any order of requests, also when builders die.
import { describe, expect, it } from 'vitest';

import {
  buildLeaseMs,
  failedBuildMs,
  maxWaitPauseMs,
  noteUseEveryMs,
  tooLargeMs,
  unpinnedArchiveMs,
} from '../../../domain/environment/limits.ts';
import {
  decideBuild,
  giveUpBuild,
  mayStore,
  renewBuild,
  storeArchive,
  type Archive,
  type Builder,
  type SharedBuild,
} from '../../../domain/environment/shared-build.ts';
import { createRandom } from '../../support/random.ts';

const startMs = 1_000_000;
const builder = (name: string): Builder => ({ instance: name, cluster: 1, user: 'ada' });
const archive = (sha256: string, storedAtMs = startMs): Archive => ({
  ...{ sha256, bytes: 10, unpackedBytes: 30, buildMs: 5_000, storedAtMs },
});
const ask = (name: string, nowMs = startMs, damaged: string | null = null) => ({
  builder: builder(name),
  ...{ damaged, nowMs },
});
const building = (name: string, claim = 1): SharedBuild => ({
  ...{ state: 'building', claim, builder: builder(name), claimedAtMs: startMs, usedAtMs: startMs },
  leaseUntilMs: startMs + buildLeaseMs,
});
const stored = (isPinned = true): SharedBuild => ({
  ...{ state: 'stored', claim: 1, builder: builder('a'), claimedAtMs: startMs, usedAtMs: startMs },
  ...{ archive: archive('x'), isPinned },
});

describe('an instance that asks', () => {
  it('builds what no instance has built', () => {
    expect(decideBuild(null, ask('a'))).toEqual({ next: building('a'), answer: { do: 'build', claim: 1 } });
  });

  it('waits while another one builds, asking less often the longer it takes', () => {
    const pauses = [0, 2_000, 8_000, 39_999].map((ms) => decideBuild(building('a'), ask('b', startMs + ms)));
    expect(pauses.map(({ answer }) => (answer.do === 'wait' ? answer.retryAfterMs : null))).toEqual([
      ...[500, 500, 1_000],
      maxWaitPauseMs,
    ]);
    expect(pauses.every(({ next }) => next === null)).toBe(true);
  });

  it('learns what the builder does as soon as it has said so', () => {
    const stageOf = (known: SharedBuild | null) => {
      const { answer } = decideBuild(known, ask('b', startMs + 1_000));
      return answer.do === 'wait' ? answer.stage : answer.do;
    };
    expect(stageOf(building('a'))).toBeNull();
    const installing = renewBuild(building('a'), { claim: 1, stage: 'install', nowMs: startMs });
    expect(stageOf(installing)).toBe('install');
    // A renewal without a stage keeps it.
    expect(stageOf(installing && renewBuild(installing, { claim: 1, stage: null, nowMs: startMs }))).toBe('install');
  });

  it('builds when the lease has ended, and again when its own answer was lost', () => {
    const late = decideBuild(building('a'), ask('b', startMs + buildLeaseMs));
    expect(late.answer).toEqual({ do: 'build', claim: 2 });
    expect(late.next).toMatchObject({ builder: builder('b'), leaseUntilMs: startMs + 2 * buildLeaseMs });
    expect(decideBuild(building('a'), ask('a')).answer).toEqual({ do: 'build', claim: 2 });
  });

  it('fetches a stored archive; its use is noted now and then', () => {
    expect(decideBuild(stored(), ask('b', startMs + noteUseEveryMs - 1))).toEqual({
      next: null,
      answer: { do: 'download', archive: archive('x') },
    });
    const nowMs = startMs + noteUseEveryMs;
    expect(decideBuild(stored(), ask('b', nowMs)).next).toEqual({ ...stored(), usedAtMs: nowMs });
  });

  it('builds anew what was damaged, and what is not pinned and old', () => {
    expect(decideBuild(stored(), ask('b', startMs, 'x')).answer).toEqual({ do: 'build', claim: 2 });
    expect(decideBuild(stored(), ask('b', startMs, 'y')).answer.do).toBe('download');
    const oldMs = startMs + unpinnedArchiveMs;
    expect(decideBuild(stored(false), ask('b', oldMs)).answer.do).toBe('build');
    expect(decideBuild(stored(false), ask('b', oldMs - 1)).answer.do).toBe('download');
    expect(decideBuild(stored(true), ask('b', oldMs)).answer.do).toBe('download');
  });

  it('builds by itself after a failure, without waiting; the builder may try again', () => {
    const failed = giveUpBuild(building('a'), { claim: 1, why: 'failed', nowMs: startMs });
    expect(decideBuild(failed, ask('b')).answer).toEqual({ do: 'alone', why: 'failed' });
    expect(decideBuild(failed, ask('a')).answer).toEqual({ do: 'build', claim: 2 });
    expect(decideBuild(failed, ask('b', startMs + failedBuildMs)).answer).toEqual({ do: 'build', claim: 2 });
    const large = giveUpBuild(building('a'), { claim: 1, why: 'too-large', nowMs: startMs });
    expect(decideBuild(large, ask('a')).answer).toEqual({ do: 'alone', why: 'too-large' });
    expect(decideBuild(large, ask('b', startMs + tooLargeMs)).answer).toEqual({ do: 'build', claim: 2 });
  });
});

describe('a builder', () => {
  it('keeps its lease while it says so, unless another one has it', () => {
    expect(renewBuild(building('a'), { claim: 1, stage: null, nowMs: startMs + 5_000 })).toMatchObject({
      leaseUntilMs: startMs + 5_000 + buildLeaseMs,
    });
    expect(renewBuild(building('b', 2), { claim: 1, stage: null, nowMs: startMs })).toBeNull();
    expect(renewBuild(stored(), { claim: 1, stage: null, nowMs: startMs })).toBeNull();
  });

  it('that was replaced gives up nothing of its successor', () => {
    expect(giveUpBuild(building('b', 2), { claim: 1, why: 'failed', nowMs: startMs })).toBeNull();
    expect(giveUpBuild(stored(), { claim: 1, why: 'failed', nowMs: startMs })).toBeNull();
  });

  it('stores the first complete archive, also when it was late', () => {
    const item = { claim: 1, builder: builder('a'), archive: archive('x', startMs + 7), isPinned: true };
    expect(storeArchive(building('b', 2), item)).toEqual({
      ...{ state: 'stored', claim: 2, builder: builder('a'), claimedAtMs: startMs, usedAtMs: startMs + 7 },
      ...{ archive: archive('x', startMs + 7), isPinned: true },
    });
    expect(storeArchive(stored(), { ...item, archive: archive('y') })).toBeNull();
    expect([mayStore(null, 1, 'x'), mayStore(building('a'), 0, 'x'), mayStore(building('a'), 2, 'x')]).toEqual(
      Array.from({ length: 3 }, () => 'unknown'),
    );
    expect([mayStore(building('a'), 1, 'x'), mayStore(stored(), 1, 'x'), mayStore(stored(), 1, 'y')]).toEqual([
      'ours',
      'ours',
      'other',
    ]);
    expect(storeArchive(building('a'), { ...item, claim: 5 })).toBeNull();
  });
});

it('of many instances in any order at most one holds a lease, and every one ends with an environment', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createRandom(seed);
    const names = Array.from({ length: 6 }, (_, index) => `i${index}`);
    let known: SharedBuild | null = null;
    let nowMs = startMs;
    const done = new Set<string>();
    const claims = new Map<string, number>();
    const dead = new Set<string>();
    for (let step = 0; step < 400 && done.size + dead.size < names.length; step += 1) {
      nowMs += Math.floor(random() * 20_000);
      const name = names[Math.floor(random() * names.length)] ?? '';
      if (done.has(name) || dead.has(name)) continue;
      const claim = claims.get(name);
      if (claim === undefined) {
        const before: number = known?.claim ?? 0;
        const { next, answer } = decideBuild(known, ask(name, nowMs));
        known = next ?? known;
        if (answer.do === 'download' || answer.do === 'alone') done.add(name);
        if (answer.do === 'build') {
          expect(answer.claim).toBe(before + 1);
          claims.set(name, answer.claim);
        }
      } else if (random() < 0.2) {
        dead.add(name);
      } else if (random() < 0.5 && known !== null) {
        known = renewBuild(known, { claim, stage: null, nowMs }) ?? known;
      } else if (known !== null) {
        const item = { claim, builder: builder(name), archive: archive(name, nowMs), isPinned: true };
        const kept: SharedBuild | null = known.state === 'stored' ? known : null;
        known = storeArchive(known, item) ?? known;
        if (kept !== null) expect(known).toBe(kept);
        done.add(name);
      }
    }
    expect(done.size + dead.size).toBe(names.length);
  }
});
