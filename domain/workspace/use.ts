// What is in use, of a workspace and of one user in it, and whether more would be too much.
import type { Problem } from '../errors.ts';
import type { Holder, WorkspaceLimits, WorkspaceState } from './state.ts';

/** Of everybody, or of one user. A share is what was asked for, and what is still there of more. */
export function useOf(holders: readonly Holder[], user?: string): WorkspaceLimits {
  const own = user === undefined ? holders : holders.filter((holder) => holder.user === user);
  return {
    running: own.length,
    instances: own.reduce((sum, holder) => sum + holder.instances, 0),
    vcpus: own.reduce((sum, holder) => sum + holder.vcpus, 0),
  };
}

/** Why so much more for this user is too much, for the workspace or for the user; null when it is not. */
export function exceeded(state: WorkspaceState, more: WorkspaceLimits & { user: string }): Problem | null {
  const own = state.users.find(({ name }) => name === more.user)?.limits ?? {};
  return (
    over('the workspace', useOf(state.holders), more, state.limits, 'have an admin raise the limit') ??
    over(
      more.user,
      useOf(state.holders, more.user),
      more,
      { ...state.perUser, ...own },
      'have an admin raise it for you',
    )
  );
}

const names = { running: 'open jobs and clusters', instances: 'instances', vcpus: 'vCPUs' } as const;

function over(
  whose: string,
  used: WorkspaceLimits,
  more: WorkspaceLimits,
  limits: Partial<WorkspaceLimits>,
  help: string,
): Problem | null {
  for (const key of ['running', 'instances', 'vcpus'] as const) {
    const limit = limits[key];
    // What asks for nothing more of it is not refused for it: a limit may have been lowered below what is in use.
    if (limit === undefined || more[key] <= 0 || used[key] + more[key] <= limit) continue;
    return {
      code: 'LIMIT_EXCEEDED',
      message:
        `This would take ${whose} to ${used[key] + more[key]} ${names[key]}; ` +
        `the limit is ${limit}, and ${used[key]} are in use.`,
      hint: `Wait for something to end, ask for less, or ${help}.`,
    };
  }
  return null;
}
