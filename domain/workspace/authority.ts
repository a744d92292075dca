// Who may do what in a workspace: a token has its own scopes, as far as the role of its user has them now. A token that was
// revoked or has expired, and one whose user is gone, has none.
import type { Problem } from '../errors.ts';
import type { By, Role, Scope, WorkspaceState, WorkspaceToken, WorkspaceUser } from './state.ts';

/** The workspace whose admins may be operators of the whole deployment. */
const operatorWorkspace = 'default';

export const scopesOfRole = (role: Role, slug: string): Scope[] => {
  if (role === 'read-only') return ['read'];
  if (role === 'member') return ['read', 'write'];
  return slug === operatorWorkspace ? ['read', 'write', 'admin', 'operator'] : ['read', 'write', 'admin'];
};

/** What a token may do now. */
export function scopesNow(
  { slug, users }: { slug: string; users: readonly WorkspaceUser[] },
  token: WorkspaceToken,
  nowMs: number,
): Scope[] {
  if (token.revokedAtMs !== null || (token.expiresAtMs !== null && token.expiresAtMs <= nowMs)) return [];
  const user = users.find(({ name }) => name === token.user);
  if (user === undefined) return [];
  const allowed = scopesOfRole(user.role, slug);
  return token.scopes.filter((scope) => allowed.includes(scope));
}

export interface Authority {
  user: string | null;
  scopes: readonly Scope[];
  /** Nothing that it makes may outlive it. */
  expiresAtMs: number | null;
}

/** Looked up in the state as it is now: what the API has cached of a token may be seconds old. */
export function authorityOf(state: WorkspaceState, by: By, nowMs: number): Authority | { error: Problem } {
  if (by === null) return { user: null, scopes: ['read', 'write', 'admin', 'operator'], expiresAtMs: null };
  const token = state.tokens.find(({ id, user }) => id === by.tokenId && user === by.user);
  const scopes = token === undefined ? [] : scopesNow(state, token, nowMs);
  if (token === undefined || scopes.length === 0) return { error: noLonger };
  return { user: by.user, scopes, expiresAtMs: token.expiresAtMs };
}

/** `admin` includes `write`, and `write` includes `read`; `operator` stands by itself. */
export const includes = (held: readonly Scope[], scope: Scope): boolean =>
  scope === 'operator' ? held.includes(scope) : held.some((each) => each !== 'operator' && rank[each] >= rank[scope]);

const rank = { read: 1, write: 2, admin: 3 } as const;

export function needsAdmin(state: WorkspaceState, by: By, nowMs: number): Problem | null {
  const authority = authorityOf(state, by, nowMs);
  if ('error' in authority) return authority.error;
  return includes(authority.scopes, 'admin') ? null : adminOnly;
}

const noLonger: Problem = {
  code: 'UNAUTHENTICATED',
  message: 'The API token is missing, unknown, revoked or expired.',
  hint: 'Sign in again: `ropewalk login`.',
};

const adminOnly: Problem = {
  code: 'FORBIDDEN',
  message: 'Only an admin of the workspace may do that.',
  hint: 'Ask an admin, or use a token with the scope admin.',
};
