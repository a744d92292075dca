// API tokens of a workspace. Only hashes live here; a secret is shown once, by whoever made it. No token ever may more, or
// lives longer, than the one that made it.
import type { Problem } from '../errors.ts';
import { forgetTokenAfterMs, keepOverTokenMs, maxUserTokens, maxWorkspaceTokens } from '../limits.ts';
import { authorityOf, includes, scopesOfRole } from './authority.ts';
import { note } from './notes.ts';
import type { By, Scope, WorkspaceState, WorkspaceToken } from './state.ts';

export interface IssueToken extends Pick<WorkspaceToken, 'id' | 'sha256' | 'user' | 'expiresAtMs'> {
  /** Null: all that its maker has and its user's role allows. */
  scopes: Scope[] | null;
  name?: string;
  /** Nobody: the operator from beside the API, who also makes the user, as an admin. */
  by?: By;
  /** Only while the workspace has nobody yet. */
  first?: boolean;
}

export interface IssuedToken {
  id: string;
  user: string;
  scopes: Scope[];
  expiresAtMs: number | null;
}

/** Adds a token. The same id with the same hash is a repeat; with another hash it is refused. */
export function issueToken(
  state: WorkspaceState,
  { id, sha256, user, name = '', by = null, first = false, ...wanted }: IssueToken,
  nowMs: number,
): { ok: IssuedToken } | { error: Problem } {
  const known = state.tokens.find((each) => each.id === id);
  if (known !== undefined) {
    if (known.sha256 === sha256) return { ok: issued(known) };
    return { error: { code: 'CONFLICT', field: 'id', message: 'A token with this id exists.' } };
  }
  if (first && state.users.length > 0) return { error: notFirst };
  const maker = authorityOf(state, by, nowMs);
  if ('error' in maker) return maker;
  const role = state.users.find((each) => each.name === user)?.role ?? (by === null ? 'admin' : null);
  if (by !== null && user !== by.user && !includes(maker.scopes, 'admin')) return { error: ownOnly };
  if (role === null) return { error: noSuchUser(user) };
  const possible = scopesOfRole(role, state.slug).filter((scope) => includes(maker.scopes, scope));
  const scopes = wanted.scopes ?? possible;
  const beyond = by === null ? undefined : scopes.find((scope) => !possible.includes(scope));
  if (beyond !== undefined) return { error: tooMuch(beyond, user) };
  const expiresAtMs = wanted.expiresAtMs ?? maker.expiresAtMs;
  if (maker.expiresAtMs !== null && (expiresAtMs ?? Infinity) > maker.expiresAtMs) return { error: tooLong };
  forgetOldTokens(state, nowMs);
  const isTheirs = (token: WorkspaceToken): boolean => token.user === user;
  if (!makeRoom(state, maxUserTokens, isTheirs, nowMs)) return { error: tooManyOf(user) };
  if (!makeRoom(state, maxWorkspaceTokens, () => true, nowMs)) return { error: tooMany };
  if (!state.users.some((each) => each.name === user)) {
    state.users.push({ name: user, role, limits: {}, createdAtMs: nowMs });
  }
  const createdBy = by?.user ?? null;
  const token = { id, sha256, user, scopes, expiresAtMs, createdAtMs: nowMs, revokedAtMs: null, name, createdBy };
  state.tokens.push(token);
  note(state, by, 'TOKEN_CREATED', `token ${id} of ${user}, with ${scopes.join(', ')}`, nowMs);
  return { ok: issued(token) };
}

/** Revoking twice is revoking once; the first time counts. Others' tokens are an admin's affair, and nobody else's. */
export function revokeToken(
  state: WorkspaceState,
  id: string,
  nowMs: number,
  by: By = null,
): { ok: { id: string } } | { error: Problem } {
  const actor = authorityOf(state, by, nowMs);
  if ('error' in actor) return actor;
  const token = state.tokens.find((each) => each.id === id);
  const isVisible = token !== undefined && (token.user === actor.user || includes(actor.scopes, 'admin'));
  if (!isVisible) return { error: { code: 'NOT_FOUND', message: 'There is no token with this id.' } };
  if (token.revokedAtMs === null) {
    token.revokedAtMs = nowMs;
    note(state, by, 'TOKEN_REVOKED', `token ${id} of ${token.user}`, nowMs);
  }
  return { ok: { id } };
}

const issued = ({ id, user, scopes, expiresAtMs }: WorkspaceToken): IssuedToken => ({ id, user, scopes, expiresAtMs });

/** One that has been over for long is unknown, which is refused just as well. */
function forgetOldTokens(state: WorkspaceState, nowMs: number): void {
  state.tokens = state.tokens.filter((token) => overForMs(token, nowMs) < forgetTokenAfterMs);
}

/** Whether there is room. Where there is none, the one that has been over for longest goes, if it may. */
function makeRoom(
  state: WorkspaceState,
  most: number,
  counts: (token: WorkspaceToken) => boolean,
  nowMs: number,
): boolean {
  const counted = state.tokens.filter(counts);
  if (counted.length < most) return true;
  const [longest] = counted.toSorted((a, b) => overForMs(b, nowMs) - overForMs(a, nowMs));
  if (longest === undefined || overForMs(longest, nowMs) < keepOverTokenMs) return false;
  state.tokens = state.tokens.filter((token) => token !== longest);
  return true;
}

/** How long it has been revoked or expired; 0 while it is neither. */
const overForMs = ({ revokedAtMs, expiresAtMs }: WorkspaceToken, nowMs: number): number =>
  nowMs - Math.min(revokedAtMs ?? nowMs, expiresAtMs ?? nowMs, nowMs);

const ownOnly: Problem = {
  code: 'FORBIDDEN',
  field: 'user',
  message: 'Only an admin of the workspace makes tokens for somebody else.',
  hint: 'Leave user out to make one for yourself.',
};

const noSuchUser = (user: string): Problem => ({
  code: 'NOT_FOUND',
  field: 'user',
  message: `The workspace has no user ${user}.`,
  hint: 'An admin adds people: `ropewalk user set NAME --role member`.',
});

const tooMuch = (scope: Scope, user: string): Problem => ({
  code: 'FORBIDDEN',
  field: 'scopes',
  message: `A token for ${user} cannot have the scope ${scope}: your own token lacks it, or the role of ${user} does.`,
  hint: 'Ask for less, or make it with a token that has the scope.',
});

const tooLong: Problem = {
  code: 'FORBIDDEN',
  field: 'expires',
  message: 'No token may live longer than the one that makes it.',
  hint: 'Ask for a shorter time, or leave expires out.',
};

const tooMany: Problem = {
  code: 'LIMIT_EXCEEDED',
  message: `The workspace has ${maxWorkspaceTokens} tokens, which is as many as there may be.`,
  hint: 'Revoke those that nobody uses: an hour later there is room.',
};

const tooManyOf = (user: string): Problem => ({
  code: 'LIMIT_EXCEEDED',
  message: `${user} has ${maxUserTokens} tokens, which is as many as one user may have.`,
  hint: 'Revoke those that nobody uses: an hour later there is room.',
});

const notFirst: Problem = {
  code: 'CONFLICT',
  field: 'slug',
  message: 'This workspace exists, and has people in it.',
  hint: 'Choose another slug, or ask one of its admins to add you.',
};
