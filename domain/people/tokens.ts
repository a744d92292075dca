// API tokens of a workspace. Only hashes are stored; the service that creates a token returns its secret once. A token never has more scopes, or a
// later expiry, than the token that created it.
import type { Problem } from '../errors.ts';
import { authorityOf, includes, scopesOfRole, type Caller } from './authority.ts';
import { peopleEvent } from './events.ts';
import { maxTokensPerUser } from './limits.ts';
import type { IssuedToken, IssueToken, PeopleEvent, Scope, Token, User } from './state.ts';

export interface TokenContext {
  caller: Caller;
  /** The existing token with this id. */
  known: Token | null;
  /** The user of the new token. */
  user: User | null;
  /** Number of that user's tokens that count towards `maxTokensPerUser`. */
  counted: number;
  /** The id of the user whom the operator adds with a first token. */
  newUserId: string;
}

/** Rows to write; all null for a repeated request. */
export interface NewToken {
  issued: IssuedToken;
  token: Token | null;
  user: User | null;
  event: PeopleEvent | null;
}

/** A repeat with the same id and hash returns the same answer; another hash is a CONFLICT. */
export function issueToken(
  { caller, known, user, counted, newUserId }: TokenContext,
  item: IssueToken,
  nowMs: number,
): { ok: NewToken } | { error: Problem } {
  if (known !== null) return repeated(known, item.secretHash);
  const maker = authorityOf(caller, nowMs);
  if ('error' in maker) return maker;
  if (item.by !== null && item.user !== item.by.user && !includes(maker.scopes, 'admin')) return { error: ownOnly };
  if (user === null && item.by !== null) return { error: noSuchUser(item.user) };
  const owner = user ?? newUser({ id: newUserId, name: item.user, role: 'admin' }, nowMs);
  const possible = scopesOfRole(owner.role, caller.slug).filter((scope) => includes(maker.scopes, scope));
  // An operator manages the whole deployment: a token for another user has this scope only if the request names it.
  const isForAnother = item.by !== null && item.user !== item.by.user;
  const scopes = item.scopes ?? possible.filter((scope) => scope !== 'operator' || !isForAnother);
  const beyond = item.by === null ? undefined : scopes.find((scope) => !possible.includes(scope));
  if (beyond !== undefined) return { error: beyondMaker(beyond, item.user) };
  const expiresAtMs = item.expiresAtMs ?? maker.expiresAtMs;
  if (maker.expiresAtMs !== null && (expiresAtMs ?? Infinity) > maker.expiresAtMs) return { error: outlivesMaker };
  if (counted >= maxTokensPerUser) return { error: tooManyTokens(item.user) };
  const token = tokenOf(item, { owner, scopes, expiresAtMs, createdBy: personBehind(caller) }, nowMs);
  const text = `token ${item.id} of ${item.user}, with ${scopes.join(', ')}`;
  const event = peopleEvent(item.by, 'TOKEN_CREATED', text, nowMs);
  return { ok: { issued: issuedOf(token), token, user: user === null ? owner : null, event } };
}

/** Creates the first admin of a workspace and their token; only while the workspace has no users. */
export function issueFirstToken(
  { slug, known, users, newUserId }: { slug: string; known: Token | null; users: number; newUserId: string },
  admin: { name: string; token: { id: string; secretHash: string; expiresAtMs: number | null } },
  nowMs: number,
): { ok: NewToken } | { error: Problem } {
  if (known !== null) return repeated(known, admin.token.secretHash);
  if (users > 0) return { error: workspaceHasUsers };
  const item = { ...admin.token, user: admin.name, scopes: null, by: null };
  const caller: Caller = { slug, by: null, token: null, user: null };
  return issueToken({ caller, known: null, user: null, counted: 0, newUserId }, item, nowMs);
}

/** A second revocation changes nothing. Only an admin may revoke the tokens of other users. */
export function revokeToken(
  { caller, token }: { caller: Caller; token: Token | null },
  nowMs: number,
): { ok: { token: Token; event: PeopleEvent | null } } | { error: Problem } {
  const actor = authorityOf(caller, nowMs);
  if ('error' in actor) return actor;
  const isVisible = token !== null && (token.user === actor.user || includes(actor.scopes, 'admin'));
  if (!isVisible) return { error: { code: 'NOT_FOUND', message: 'There is no token with this id.' } };
  if (token.revokedAtMs !== null) return { ok: { token, event: null } };
  const event = peopleEvent(caller.by, 'TOKEN_REVOKED', `token ${token.id} of ${token.user}`, nowMs);
  return { ok: { token: { ...token, revokedAtMs: nowMs }, event } };
}

/** Creates a user. */
export const newUser = ({ id, name, role }: Pick<User, 'id' | 'name' | 'role'>, nowMs: number): User => ({
  ...{ id, name, role },
  limits: {},
  createdAtMs: nowMs,
});

/** The creator of a token that a user created for another, and of all tokens created with it, is the first user. */
const personBehind = ({ by, token }: Caller): string | null => (by === null ? null : (token?.createdBy ?? by.user));

function repeated(known: Token, secretHash: string): { ok: NewToken } | { error: Problem } {
  if (known.secretHash === secretHash) return { ok: { issued: issuedOf(known), token: null, user: null, event: null } };
  return { error: { code: 'CONFLICT', field: 'id', message: 'A token with this id exists.' } };
}

function tokenOf(
  { id, secretHash, user, name = '' }: IssueToken,
  made: { owner: User; scopes: Scope[]; expiresAtMs: number | null; createdBy: string | null },
  nowMs: number,
): Token {
  const { owner, ...rest } = made;
  return { id, secretHash, user, userId: owner.id, name, ...rest, createdAtMs: nowMs, revokedAtMs: null };
}

const issuedOf = ({ id, user, scopes, expiresAtMs }: Token): IssuedToken => ({ id, user, scopes, expiresAtMs });

const ownOnly: Problem = {
  code: 'FORBIDDEN',
  field: 'user',
  message: 'Only an admin of the workspace makes tokens for other users.',
  hint: 'Leave user out to make one for yourself.',
};

const noSuchUser = (user: string): Problem => ({
  code: 'NOT_FOUND',
  field: 'user',
  message: `The workspace has no user ${user}.`,
  hint: 'An admin adds people: `ropewalk user set NAME --role member`.',
});

const beyondMaker = (scope: Scope, user: string): Problem => ({
  code: 'FORBIDDEN',
  field: 'scopes',
  message: `A token for ${user} cannot have the scope ${scope}: your own token lacks it, or the role of ${user} does.`,
  hint: 'Ask for fewer scopes, or make it with a token that has the scope.',
});

const outlivesMaker: Problem = {
  code: 'FORBIDDEN',
  field: 'expires',
  message: 'A token cannot expire later than the token that makes it.',
  hint: 'Ask for a shorter time, or leave expires out.',
};

export const tooManyTokens = (user: string): Problem => ({
  code: 'LIMIT_EXCEEDED',
  message: `${user} has ${maxTokensPerUser} tokens, the maximum of one user.`,
  hint: 'Revoke unused tokens. A revoked token counts for one more hour.',
});

const workspaceHasUsers: Problem = {
  code: 'CONFLICT',
  field: 'slug',
  message: 'This workspace exists and has users.',
  hint: 'Choose another slug, or ask one of its admins to add you.',
};
