// Tokens: create, list, revoke. The rules are applied to the rows, in their transaction; the secret never reaches the database.
import { includes } from '../../domain/people/authority.ts';
import type { IssuedToken, Token as StoredToken } from '../../domain/people/state.ts';
import type { CreatedToken, CreateTokenParsed, Token, TokenList } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import { positiveMs } from '../clusters/durations.ts';
import type { Context } from '../context.ts';
import { time, timeOrNull } from '../to-wire.ts';
import { newTokenSecret, tokenText, type TokenSecret } from '../../platform/token-secret.ts';
import { byOf, orRefused } from './rules.ts';

export async function createToken({ deps, actor }: Context, body: CreateTokenParsed): Promise<CreatedToken> {
  requireScope(actor, 'read');
  const made = newTokenSecret(deps.keys);
  const issued = await deps.store.people.issueToken(
    actor.workspace,
    {
      id: made.id,
      secretHash: made.secretHash,
      user: body.user ?? actor.user,
      name: body.name,
      scopes: body.scopes ?? null,
      expiresAtMs: body.expires === undefined ? null : deps.now() + positiveMs(body.expires, 'expires'),
      by: byOf(actor),
    },
    deps.now(),
  );
  return toCreated(actor.workspace, made, orRefused(issued));
}

export async function listTokens({ deps, actor }: Context): Promise<TokenList> {
  requireScope(actor, 'read');
  const isAdmin = includes(actor.scopes, 'admin');
  const tokens = await deps.store.people.listTokens(actor.workspace, isAdmin ? {} : { user: actor.user });
  return { items: tokens.map(toWireToken) };
}

export async function revokeToken({ deps, actor }: Context, { id }: { id: string }): Promise<Token> {
  requireScope(actor, 'read');
  const revoked = await deps.store.people.revokeToken(actor.workspace, { id, by: byOf(actor) }, deps.now());
  deps.tokenCache.expire();
  return toWireToken(orRefused(revoked));
}

export function toCreated(workspace: string, secret: TokenSecret, issued: IssuedToken): CreatedToken {
  const { id, user, scopes, expiresAtMs } = issued;
  return { id, token: tokenText(workspace, secret), workspace, user, scopes, expiresAt: timeOrNull(expiresAtMs) };
}

function toWireToken(token: StoredToken): Token {
  const { id, name, user, scopes, createdAtMs, createdBy, expiresAtMs, revokedAtMs } = token;
  return {
    id,
    name,
    user,
    scopes,
    createdAt: time(createdAtMs),
    createdBy,
    expiresAt: timeOrNull(expiresAtMs),
    revokedAt: timeOrNull(revokedAtMs),
  };
}
