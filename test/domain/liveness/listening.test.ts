import fc from 'fast-check';
import { expect, it } from 'vitest';

import { listeningForMs, maxTickGapMs, startListening, tick } from '../../../domain/liveness/listening.ts';

const start = { monotonicMs: 5_000, wallMs: 1_700_000_000_000 };

it('has been listening since its start', () => {
  let listening = startListening(start);
  for (let ms = 1_000; ms <= 60_000; ms += 1_000) {
    listening = tick(listening, { monotonicMs: 5_000 + ms, wallMs: start.wallMs + ms });
  }
  expect(listeningForMs(listening)).toBe(60_000);
});

it.each([
  { what: 'a process that was stopped', ranMs: maxTickGapMs + 1, passedMs: maxTickGapMs + 1 },
  { what: 'a machine that slept', ranMs: 1_000, passedMs: 3_600_000 },
  { what: 'a wall clock that was set back', ranMs: 1_000, passedMs: -3_600_000 },
])('begins anew after $what', ({ ranMs, passedMs }) => {
  const before = tick(startListening(start), { monotonicMs: 10_000, wallMs: start.wallMs + 5_000 });
  const after = tick(before, { monotonicMs: 10_000 + ranMs, wallMs: start.wallMs + 5_000 + passedMs });
  expect(listeningForMs(after)).toBe(0);
});

it('never has been listening for longer than since its last gap', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 50 }), (steps) => {
      let listening = startListening(start);
      let now = start;
      let sinceMs = start.monotonicMs;
      for (const ms of steps) {
        now = { monotonicMs: now.monotonicMs + ms, wallMs: now.wallMs + ms };
        if (ms > maxTickGapMs) sinceMs = now.monotonicMs;
        listening = tick(listening, now);
      }
      expect(listeningForMs(listening)).toBe(now.monotonicMs - sinceMs);
    }),
  );
});
