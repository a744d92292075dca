// The current usage of the workspace and of each user.
import type { WorkspaceLimits } from '../../domain/quota/state.ts';
import type { Context } from '../context.ts';

export interface Usage {
  total: WorkspaceLimits;
  /** Users with any usage, including removed ones. */
  users: string[];
  of(user: string): WorkspaceLimits;
}

export async function readUsage({ deps, actor }: Context): Promise<Usage> {
  const { total, byUser } = await deps.store.workspaces.usage(actor.workspace);
  const uses = new Map(byUser.map(({ user, use }) => [user, use]));
  return { total, users: [...uses.keys()], of: (user) => uses.get(user) ?? nothing };
}

const nothing: WorkspaceLimits = { running: 0, instances: 0, vcpus: 0 };
