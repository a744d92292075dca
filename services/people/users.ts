// The users of a workspace: everybody sees who there is, admins change it.
import type { WorkspaceLimits, WorkspaceUser } from '../../domain/workspace/state.ts';
import { useOf } from '../../domain/workspace/use.ts';
import type { PutUser, SomeLimits, User, UserList } from '../../schema/people.ts';
import type { WorkspaceView } from '../../workflows/workspace/messages.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time } from '../to-wire.ts';
import { byOf, readWorkspace } from './read.ts';

export async function listUsers(context: Context): Promise<UserList> {
  requireScope(context.actor, 'read', { honourStale: true });
  const { view } = await readWorkspace(context);
  return { items: view.users.map((user) => toWireUser(view, user)) };
}

export async function putUser(context: Context, { name, role, limits }: PutUser & { name: string }): Promise<User> {
  const { deps, actor } = context;
  requireScope(actor, 'admin', { honourStale: false });
  const user = await deps.people.putUser(actor.workspace, {
    name,
    by: byOf(actor),
    ...(role === undefined ? {} : { role }),
    ...(limits === undefined ? {} : { limits: limits === null ? null : definedLimits(limits) }),
  });
  deps.views.expireWorkspace(actor.workspace);
  return toWireUser((await readWorkspace(context)).view, user);
}

export async function removeUser(context: Context, { name }: { name: string }): Promise<User> {
  const { deps, actor } = context;
  requireScope(actor, 'admin', { honourStale: false });
  const removed = await deps.people.removeUser(actor.workspace, { name, by: byOf(actor) });
  deps.views.expireWorkspace(actor.workspace);
  const { view } = await readWorkspace(context);
  return toWireUser(view, removed);
}

/** Without the keys that were left out, since a limit that is undefined would take the place of one that is there. */
export const definedLimits = (limits: SomeLimits): Partial<WorkspaceLimits> => ({
  ...(limits.running === undefined ? {} : { running: limits.running }),
  ...(limits.instances === undefined ? {} : { instances: limits.instances }),
  ...(limits.vcpus === undefined ? {} : { vcpus: limits.vcpus }),
});

const toWireUser = (view: WorkspaceView, { name, role, limits, createdAtMs }: WorkspaceUser): User => ({
  name,
  role,
  limits,
  use: useOf(view.holders, name),
  createdAt: time(createdAtMs),
});
