// The limits of a new workspace, and how a change of limits is applied.
import type { WorkspaceLimits } from './state.ts';

/** For one machine or a small team; an admin raises them. */
export const defaultLimits: WorkspaceLimits = { running: 1_000, instances: 2_000, vcpus: 10_000 };

/** Replaces the limits that are named; null removes all of them. */
export const mergeLimits = (
  before: Partial<WorkspaceLimits>,
  change: Partial<WorkspaceLimits> | null | undefined,
): Partial<WorkspaceLimits> => (change === null ? {} : { ...before, ...change });
