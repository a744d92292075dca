// One's own workspace: its limits, and who uses how much of them.
import { includes } from '../../domain/workspace/authority.ts';
import { useOf } from '../../domain/workspace/use.ts';
import type { PutLimits, WorkspaceInfo } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time, timeOrNull } from '../to-wire.ts';
import { byOf, readWorkspace } from './read.ts';
import { definedLimits } from './users.ts';

export async function getWorkspace(context: Context): Promise<WorkspaceInfo> {
  requireScope(context.actor, 'read', { honourStale: true });
  const { view, staleSinceMs } = await readWorkspace(context);
  // Who has been removed may still have something running.
  const names = new Set([...view.users, ...view.holders.map(({ user }) => ({ name: user }))].map(({ name }) => name));
  const isAdmin = includes(context.actor.scopes, 'admin');
  return {
    slug: view.slug,
    limits: view.limits,
    perUser: view.perUser,
    use: useOf(view.holders),
    users: [...names].map((name) => ({ name, use: useOf(view.holders, name) })),
    events: isAdmin ? view.events.map(({ atMs, ...event }) => ({ at: time(atMs), ...event })) : [],
    staleSince: timeOrNull(staleSinceMs),
  };
}

export async function putLimits(context: Context, { perUser, ...limits }: PutLimits): Promise<WorkspaceInfo> {
  const { deps, actor } = context;
  requireScope(actor, 'admin', { honourStale: false });
  await deps.people.configure(actor.workspace, {
    limits: definedLimits(limits),
    by: byOf(actor),
    ...(perUser === undefined ? {} : { perUser: perUser === null ? null : definedLimits(perUser) }),
  });
  deps.views.expireWorkspace(actor.workspace);
  return getWorkspace(context);
}
