// The users of a workspace. The last admin can be neither removed nor demoted.
import type { Problem } from '../errors.ts';
import { limitsText, mergeLimits } from '../quota/limits.ts';
import { needsAdmin, type Caller } from './authority.ts';
import { peopleEvent } from './events.ts';
import { maxUsersPerWorkspace } from './limits.ts';
import type { PeopleEvent, PutUser, User } from './state.ts';
import { newUser } from './tokens.ts';

/** Names of users; e-mail addresses are allowed. */
export const userNamePattern = /^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,99}$/;

export interface UserContext {
  caller: Caller;
  /** The user of this name. */
  known: User | null;
  /** Number of users of the workspace. */
  users: number;
  admins: number;
}

/** Adds a user, or changes the given fields of one. A new user is a member unless a role is given. */
export function putUser(
  { caller, known, users, admins, newUserId }: UserContext & { newUserId: string },
  { name, role, limits }: PutUser,
  nowMs: number,
): { ok: { user: User; event: PeopleEvent } } | { error: Problem } {
  const refused = needsAdmin(caller, nowMs);
  if (refused !== null) return { error: refused };
  if (known === null && users >= maxUsersPerWorkspace) return { error: tooManyUsers };
  if (known?.role === 'admin' && (role ?? 'admin') !== 'admin' && admins === 1) return { error: lastAdmin(name) };
  const before = known ?? newUser({ id: newUserId, name, role: 'member' }, nowMs);
  const user = { ...before, role: role ?? before.role, limits: mergeLimits(before.limits, limits) };
  const text = limitsText(user.limits);
  const own = text === '' ? '' : `, at most ${text}`;
  const code = known === null ? 'USER_ADDED' : 'USER_CHANGED';
  return { ok: { user, event: peopleEvent(caller.by, code, `${name}: ${user.role}${own}`, nowMs) } };
}

/** The store revokes the user's tokens in the same transaction. Their jobs and clusters continue; other users can stop them. */
export function removeUser(
  { caller, known, admins }: UserContext,
  name: string,
  nowMs: number,
): { ok: { user: User; event: PeopleEvent } } | { error: Problem } {
  const refused = needsAdmin(caller, nowMs);
  if (refused !== null) return { error: refused };
  if (known === null) return { error: { code: 'NOT_FOUND', message: `The workspace has no user ${name}.` } };
  if (known.role === 'admin' && admins === 1) return { error: lastAdmin(name) };
  return { ok: { user: known, event: peopleEvent(caller.by, 'USER_REMOVED', name, nowMs) } };
}

const lastAdmin = (name: string): Problem => ({
  code: 'CONFLICT',
  message: `${name} is the last admin of the workspace: without one, its users and limits cannot be changed.`,
  hint: 'Make another user an admin first.',
});

export const tooManyUsers: Problem = {
  code: 'LIMIT_EXCEEDED',
  message: `The workspace has ${maxUsersPerWorkspace} users, the maximum.`,
  hint: 'Remove users who have left.',
};
