// The limits of a new workspace, and changes of limits.
import type { WorkspaceLimits } from './state.ts';

/** Enough for one machine or a small team; an admin can raise them. */
export const defaultLimits: WorkspaceLimits = { running: 1_000, instances: 2_000, vcpus: 10_000 };

/** Null removes the limit. */
export type LimitsChange = { [name in keyof WorkspaceLimits]?: WorkspaceLimits[name] | null };

/** Replaces the given limits, and removes those that are null; null removes all of them. */
export function mergeLimits(
  before: Partial<WorkspaceLimits>,
  change: LimitsChange | null | undefined,
): Partial<WorkspaceLimits> {
  if (change === null) return {};
  const merged: Partial<WorkspaceLimits> = { ...before };
  for (const name of ['running', 'instances', 'vcpus'] as const) {
    const limit = change?.[name];
    if (limit === null) delete merged[name];
    else if (limit !== undefined) merged[name] = limit;
  }
  return merged;
}

/** For example "2000 instances, 1 vCPU"; empty without a limit. */
export const limitsText = ({ running, instances, vcpus }: Partial<WorkspaceLimits>): string =>
  [
    countText(running, 'open job or cluster', 'open jobs and clusters'),
    countText(instances, 'instance', 'instances'),
    countText(vcpus, 'vCPU', 'vCPUs'),
  ]
    .filter((each) => each !== '')
    .join(', ');

const countText = (count: number | undefined, one: string, several: string): string =>
  count === undefined ? '' : `${count} ${count === 1 ? one : several}`;
