// Agents and the SDK have the same rule, each its own copy; python/tests/test_retry_pause.py reads the same cases.
import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { retryPauseMs, type RetryPause } from '../../domain/retry-pause.ts';
import { retryPauseMs as retryPauseOfSdk } from '../../sdk/retry-pause.ts';

const shared: { firstMs: number; maxMs: number; cases: (Omit<RetryPause, 'firstMs'> & { pauseMs: number })[] } =
  JSON.parse(readFileSync(new URL('../shared/retry-pauses.json', import.meta.url), 'utf8'));

describe.each([
  ['an agent', retryPauseMs],
  ['the SDK', retryPauseOfSdk],
])('the pause of %s', (_, pauseOf) => {
  it.each(shared.cases)('is $pauseMs ms: $tries tries, Retry-After $retryAfterMs, $random', ({ pauseMs, ...input }) => {
    const { firstMs, maxMs } = shared;
    expect(pauseOf({ ...input, firstMs, maxMs })).toBeCloseTo(pauseMs, 6);
  });

  it('is never shorter than Retry-After, and its mean never falls from try to try', () => {
    for (const retryAfterMs of [null, 0, 300, 1_000, 30_000]) {
      let last = 0;
      for (let tries = 1; tries <= 20; tries += 1) {
        const input = { tries, retryAfterMs, firstMs: 100, maxMs: 5_000 };
        const [low, mean, high] = [0, 0.5, 1].map((random) => pauseOf({ ...input, random }));
        expect(low).toBe(retryAfterMs ?? 0);
        expect(mean).toBeGreaterThanOrEqual(last);
        expect(high).toBeLessThanOrEqual(Math.max(5_000, (retryAfterMs ?? 0) + 100));
        last = mean ?? 0;
      }
    }
  });
});
