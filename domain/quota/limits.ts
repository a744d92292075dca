// The limits of a new workspace, and changes of limits.
import type { WorkspaceLimits } from './state.ts';

/** Enough for one machine or a small team; an admin can raise them. */
export const defaultLimits: WorkspaceLimits = { running: 1_000, instances: 2_000, vcpus: 10_000 };

/** Replaces the given limits; null removes all of them. */
export const mergeLimits = (
  before: Partial<WorkspaceLimits>,
  change: Partial<WorkspaceLimits> | null | undefined,
): Partial<WorkspaceLimits> => (change === null ? {} : { ...before, ...change });
