// Access rights in a workspace: a token has its own scopes, limited to those that its user's role includes now. A revoked or expired token, and a
// token whose user was removed, has no scopes.
import type { Problem } from '../errors.ts';
import type { By, Role, Scope, Token, User } from './state.ts';

/** The workspace whose admins may be operators of the whole deployment. */
const operatorWorkspace = 'default';

/** All scopes of a role in the workspace `slug`. */
export const scopesOfRole = (role: Role, slug: string): Scope[] => {
  if (role === 'read-only') return ['read'];
  if (role === 'member') return ['read', 'write'];
  return slug === operatorWorkspace ? ['read', 'write', 'admin', 'operator'] : ['read', 'write', 'admin'];
};

/** The current scopes of a token; none without its user. */
export function scopesNow(slug: string, { token, user }: { token: Token; user: User | null }, nowMs: number): Scope[] {
  if (token.revokedAtMs !== null || (token.expiresAtMs !== null && token.expiresAtMs <= nowMs)) return [];
  // A user who was removed and added again has a new id, so the earlier tokens stay without a user.
  if (user === null || user.id !== token.userId) return [];
  const allowed = scopesOfRole(user.role, slug);
  return token.scopes.filter((scope) => allowed.includes(scope));
}

/** The caller, with the rows of their token and user as read in this transaction. */
export interface Caller {
  slug: string;
  by: By;
  token: Token | null;
  user: User | null;
}

export interface Authority {
  /** Null for the operator, on the control plane's host. */
  user: string | null;
  scopes: readonly Scope[];
  /** A token that this caller creates must expire by then. */
  expiresAtMs: number | null;
}

/** Uses the rows, not the API's earlier verification, because the token may have been revoked since. */
export function authorityOf({ slug, by, token, user }: Caller, nowMs: number): Authority | { error: Problem } {
  if (by === null) return { user: null, scopes: ['read', 'write', 'admin', 'operator'], expiresAtMs: null };
  if (token === null || token.id !== by.tokenId || token.user !== by.user) return { error: tokenEnded };
  const scopes = scopesNow(slug, { token, user }, nowMs);
  if (scopes.length === 0) return { error: tokenEnded };
  return { user: by.user, scopes, expiresAtMs: token.expiresAtMs };
}

/** `admin` includes `write`, and `write` includes `read`; `operator` is separate. */
export const includes = (held: readonly Scope[], scope: Scope): boolean =>
  scope === 'operator' ? held.includes(scope) : held.some((each) => each !== 'operator' && rank[each] >= rank[scope]);

const rank = { read: 1, write: 2, admin: 3 } as const;

/** Returns the refusal of a caller without the scope `admin`; null when the caller has it. */
export function needsAdmin(caller: Caller, nowMs: number): Problem | null {
  const authority = authorityOf(caller, nowMs);
  if ('error' in authority) return authority.error;
  return includes(authority.scopes, 'admin') ? null : adminOnly;
}

const tokenEnded: Problem = {
  code: 'UNAUTHENTICATED',
  message: 'The API token is missing, unknown, revoked or expired.',
  hint: 'Sign in again: `ropewalk login`.',
};

const adminOnly: Problem = {
  code: 'FORBIDDEN',
  message: 'Only an admin of the workspace has access to this.',
  hint: 'Ask an admin, or use a token with the scope admin.',
};
