// Changes a workspace's limits; only for admins.
import type { Problem } from '../errors.ts';
import { limitsText, mergeLimits, type LimitsChange } from '../quota/limits.ts';
import type { WorkspaceLimits } from '../quota/state.ts';
import { needsAdmin, type Caller } from './authority.ts';
import { peopleEvent } from './events.ts';
import type { PeopleEvent } from './state.ts';

export interface Limits {
  limits: WorkspaceLimits;
  perUser: Partial<WorkspaceLimits>;
}

/** Changes only the given limits; `perUser: null` removes the limits of each user. */
export function configure(
  before: Limits & { caller: Caller },
  change: { limits: Partial<WorkspaceLimits>; perUser?: LimitsChange | null },
  nowMs: number,
): { ok: Limits & { event: PeopleEvent } } | { error: Problem } {
  const refused = needsAdmin(before.caller, nowMs);
  if (refused !== null) return { error: refused };
  const limits = { ...before.limits, ...change.limits };
  const perUser = mergeLimits(before.perUser, change.perUser);
  const ofEach = limitsText(perUser);
  const text = `at most ${limitsText(limits)}; each user ${ofEach === '' ? 'without limits' : `at most ${ofEach}`}`;
  return { ok: { limits, perUser, event: peopleEvent(before.caller.by, 'LIMITS', text, nowMs) } };
}
