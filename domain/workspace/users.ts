// The people of a workspace and its limits. There is always an admin: the last one can be neither removed nor demoted.
import type { Problem } from '../errors.ts';
import { maxWorkspaceUsers } from '../limits.ts';
import { needsAdmin } from './authority.ts';
import { note } from './notes.ts';
import type { By, Role, WorkspaceLimits, WorkspaceState, WorkspaceUser } from './state.ts';

export interface PutUser {
  name: string;
  role?: Role;
  /** Null takes the user's own limits away. */
  limits?: Partial<WorkspaceLimits> | null;
  by: By;
}

/** Adds a user, or changes what is named of one. A new one is a member unless it says otherwise. */
export function putUser(
  state: WorkspaceState,
  { name, role, limits, by }: PutUser,
  nowMs: number,
): { ok: WorkspaceUser } | { error: Problem } {
  const refused = needsAdmin(state, by, nowMs);
  if (refused !== null) return { error: refused };
  const known = state.users.find((user) => user.name === name);
  if (known === undefined && state.users.length >= maxWorkspaceUsers) return { error: tooMany };
  if (known?.role === 'admin' && (role ?? 'admin') !== 'admin' && admins(state) === 1)
    return { error: lastAdmin(name) };
  const before = known ?? { name, role: 'member', limits: {}, createdAtMs: nowMs };
  const user: WorkspaceUser = { ...before, role: role ?? before.role, limits: merged(before.limits, limits) };
  state.users =
    known === undefined ? [...state.users, user] : state.users.map((each) => (each === known ? user : each));
  const own = Object.keys(user.limits).length === 0 ? '' : `, limits ${JSON.stringify(user.limits)}`;
  note(state, by, known === undefined ? 'USER_ADDED' : 'USER_CHANGED', `${name}: ${user.role}${own}`, nowMs);
  return { ok: user };
}

/** Its tokens are revoked at the same moment. What it has started goes on: others may stop it. */
export function removeUser(
  state: WorkspaceState,
  { name, by }: { name: string; by: By },
  nowMs: number,
): { ok: WorkspaceUser } | { error: Problem } {
  const refused = needsAdmin(state, by, nowMs);
  if (refused !== null) return { error: refused };
  const user = state.users.find((each) => each.name === name);
  if (user === undefined) return { error: { code: 'NOT_FOUND', message: `The workspace has no user ${name}.` } };
  if (user.role === 'admin' && admins(state) === 1) return { error: lastAdmin(name) };
  state.users = state.users.filter((each) => each !== user);
  for (const token of state.tokens) if (token.user === name) token.revokedAtMs ??= nowMs;
  note(state, by, 'USER_REMOVED', name, nowMs);
  return { ok: user };
}

/** Changes only the limits that are named. */
export function configure(
  state: WorkspaceState,
  limits: Partial<WorkspaceLimits>,
  { nowMs, by = null, perUser }: { nowMs: number; perUser?: Partial<WorkspaceLimits> | null; by?: By },
): { ok: WorkspaceLimits } | { error: Problem } {
  const refused = needsAdmin(state, by, nowMs);
  if (refused !== null) return { error: refused };
  state.limits = { ...state.limits, ...limits };
  state.perUser = merged(state.perUser, perUser);
  note(state, by, 'LIMITS', JSON.stringify({ ...state.limits, perUser: state.perUser }), nowMs);
  return { ok: state.limits };
}

const merged = (
  before: Partial<WorkspaceLimits>,
  change: Partial<WorkspaceLimits> | null | undefined,
): Partial<WorkspaceLimits> => (change === null ? {} : { ...before, ...change });

const admins = (state: WorkspaceState): number => state.users.filter(({ role }) => role === 'admin').length;

const lastAdmin = (name: string): Problem => ({
  code: 'CONFLICT',
  message: `${name} is the last admin of the workspace: nobody could change anything afterwards.`,
  hint: 'Make somebody else an admin first.',
});

const tooMany: Problem = {
  code: 'LIMIT_EXCEEDED',
  message: `The workspace has ${maxWorkspaceUsers} users, which is as many as there may be.`,
  hint: 'Remove those who are gone.',
};
