// The users of a workspace: every member may list them, admins change them.
import type { User as StoredUser } from '../../domain/people/state.ts';
import type { WorkspaceLimits } from '../../domain/quota/state.ts';
import type { PutUser, User, UserList } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time } from '../to-wire.ts';
import { byOf, orRefused } from './rules.ts';
import { readUsage, type Usage } from './usage.ts';

export async function listUsers(context: Context): Promise<UserList> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const [users, usage] = await Promise.all([deps.store.people.listUsers(actor.workspace), readUsage(context)]);
  return { items: users.map((user) => toWireUser(user, usage)) };
}

export async function putUser(context: Context, { name, role, limits }: PutUser & { name: string }): Promise<User> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const item = {
    name,
    by: byOf(actor),
    ...(role === undefined ? {} : { role }),
    ...(limits === undefined ? {} : { limits: limits === null ? null : definedLimits(limits) }),
  };
  const put = await deps.store.people.putUser(actor.workspace, item, deps.now());
  deps.tokenCache.expire();
  return toWireUser(orRefused(put), await readUsage(context));
}

export async function removeUser(context: Context, { name }: { name: string }): Promise<User> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const removed = await deps.store.people.removeUser(actor.workspace, { name, by: byOf(actor) }, deps.now());
  deps.tokenCache.expire();
  return toWireUser(orRefused(removed), await readUsage(context));
}

/** Leaves out absent keys, because an undefined limit would replace an existing one. */
export const definedLimits = <T extends number | null>(limits: Limited<T | undefined>): Limited<T> => ({
  ...(limits.running === undefined ? {} : { running: limits.running }),
  ...(limits.instances === undefined ? {} : { instances: limits.instances }),
  ...(limits.vcpus === undefined ? {} : { vcpus: limits.vcpus }),
});

type Limited<T> = { [name in keyof WorkspaceLimits]?: T };

const toWireUser = ({ name, role, limits, createdAtMs }: StoredUser, usage: Usage): User => ({
  name,
  role,
  limits,
  use: usage.of(name),
  createdAt: time(createdAtMs),
});
