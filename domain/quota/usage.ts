// Checks whether a workspace, or one of its users, may use more of the quota.
import type { Problem } from '../errors.ts';
import type { WorkspaceLimits } from './state.ts';

/** The current usage, as sums over the reservations, and the limits. */
export interface Quota {
  workspace: { use: WorkspaceLimits; limits: WorkspaceLimits };
  /** `limits`: the user's own limits, which override the workspace's `perUser`. */
  user: { name: string; use: WorkspaceLimits; limits: Partial<WorkspaceLimits> };
}

/** Returns why `more` exceeds a limit of the workspace or of the user; null when it does not. */
export const exceeded = ({ workspace, user }: Quota, more: WorkspaceLimits): Problem | null =>
  over('the workspace', workspace, more, 'have an admin raise the limit') ??
  over(user.name, user, more, 'have an admin raise it for you');

const nouns = { running: 'open jobs and clusters', instances: 'instances', vcpus: 'vCPUs' } as const;

function over(
  whose: string,
  { use, limits }: { use: WorkspaceLimits; limits: Partial<WorkspaceLimits> },
  more: WorkspaceLimits,
  help: string,
): Problem | null {
  for (const key of ['running', 'instances', 'vcpus'] as const) {
    const limit = limits[key];
    // A request that adds nothing to this figure passes, because the limit may have been lowered below the usage.
    if (limit === undefined || more[key] <= 0 || use[key] + more[key] <= limit) continue;
    return {
      code: 'LIMIT_EXCEEDED',
      message:
        `This would take ${whose} to ${use[key] + more[key]} ${nouns[key]}; ` +
        `the limit is ${limit}, and ${use[key]} are in use.`,
      hint: `Wait until another job or cluster ends, ask for less, or ${help}.`,
    };
  }
  return null;
}
