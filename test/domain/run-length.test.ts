import { expect, it } from 'vitest';

import { maxEventsOfOldRun, maxEventsOfRun, oldRunAfterMs } from '../../domain/limits.ts';
import { isLongRun } from '../../domain/run-length.ts';

it('a run continues as new at the limit of its age', () => {
  expect(isLongRun({ events: maxEventsOfRun - 1, ageMs: oldRunAfterMs - 1 })).toBe(false);
  expect(isLongRun({ events: maxEventsOfRun, ageMs: 0 })).toBe(true);
  expect(isLongRun({ events: maxEventsOfOldRun - 1, ageMs: 30 * 86_400_000 })).toBe(false);
  expect(isLongRun({ events: maxEventsOfOldRun, ageMs: oldRunAfterMs })).toBe(true);
});
