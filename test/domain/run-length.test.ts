// How long a run may become: the history that a restarted Temporal worker replays for each open workflow.
import { expect, it } from 'vitest';

import { maxEventsOfOldRun, maxEventsOfRun, oldRunAfterMs } from '../../domain/workflow-limits.ts';
import { isLongRun } from '../../domain/run-length.ts';

it('a busy run continues as new after 1,000 events, one that is older than ten minutes after 120', () => {
  expect([maxEventsOfRun, maxEventsOfOldRun, oldRunAfterMs]).toEqual([1_000, 120, 600_000]);
  expect(isLongRun({ events: 999, ageMs: oldRunAfterMs - 1 })).toBe(false);
  expect(isLongRun({ events: 1_000, ageMs: 0 })).toBe(true);
  expect(isLongRun({ events: 119, ageMs: 86_400_000 })).toBe(false);
  expect(isLongRun({ events: 120, ageMs: oldRunAfterMs })).toBe(true);
  expect(isLongRun({ events: 120, ageMs: oldRunAfterMs - 1 })).toBe(false);
});
