import fc from 'fast-check';
import { expect, it } from 'vitest';

import { hear, interrupt, isForgettable, isNoteDue, maxGapMs, type Streak } from '../../../domain/liveness/streak.ts';

it('is noted at once, and then whenever an eighth of the silence that counts has passed', () => {
  const first = hear(undefined, 0, 80_000);
  expect(isNoteDue(first, 0)).toBe(true);
  const noted = { ...first, notedMs: 0 };
  expect(isNoteDue(hear(noted, 9_999, null), 9_999)).toBe(false);
  expect(isNoteDue(hear(noted, 10_000, null), 10_000)).toBe(true);
  expect(isNoteDue(hear({ ...noted, silentAfterMs: null }, 1, null), 1)).toBe(true);
});

it('is noted a last time once it is quiet, so that it can be forgotten', () => {
  const last = hear({ ...hear(undefined, 0, 800_000), notedMs: 0 }, 7_000, null);
  expect(isNoteDue(last, 7_000 + maxGapMs)).toBe(false);
  expect(isNoteDue(last, 7_001 + maxGapMs)).toBe(true);
});

it('begins anew after a message that did not arrive, and is noted at once', () => {
  const known = { ...hear(undefined, 0, 80_000), notedMs: 0 };
  expect(interrupt(known, 5)).toEqual({ heardMs: 5, sinceMs: 5, notedMs: null, silentAfterMs: 80_000 });
});

it('begins anew after a gap, and not before', () => {
  const known = hear(undefined, 0, null);
  expect(hear(known, maxGapMs, null).sinceMs).toBe(0);
  expect(hear(known, maxGapMs + 1, null).sinceMs).toBe(maxGapMs + 1);
});

it('keeps the silence that counts until another is known', () => {
  const known = hear(undefined, 0, 9_000);
  expect(hear(known, 1, null).silentAfterMs).toBe(9_000);
  expect(hear(known, 1, 120_000).silentAfterMs).toBe(120_000);
});

it('is forgotten only when the database has the last sign of life', () => {
  const known: Streak = { heardMs: 0, sinceMs: 0, notedMs: 0, silentAfterMs: null };
  expect(isForgettable(known, 2 * maxGapMs)).toBe(false);
  expect(isForgettable(known, 2 * maxGapMs + 1)).toBe(true);
  expect(isForgettable({ ...known, notedMs: null }, 1e9)).toBe(false);
});

it('never lets the database lag behind by as much as a silence, in any order of words and notes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 8, max: 600_000 }),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 50 }),
      (silentAfterMs, gaps) => {
        let nowMs = 0;
        let streak = hear(undefined, nowMs, silentAfterMs);
        for (const gapMs of gaps) {
          nowMs += gapMs;
          streak = hear(streak, nowMs, null);
          if (isNoteDue(streak, nowMs)) streak = { ...streak, notedMs: nowMs };
          expect(nowMs - (streak.notedMs ?? -1e9)).toBeLessThan(silentAfterMs / 8);
          expect(streak.sinceMs).toBeLessThanOrEqual(streak.heardMs);
        }
      },
    ),
  );
});
