// Tokens: made, listed, revoked. What may be made is the workflow's to decide; the secret never reaches it.
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/workspace/authority.ts';
import type { WorkspaceToken } from '../../domain/workspace/state.ts';
import type { IssuedToken } from '../../domain/workspace/tokens.ts';
import type { CreatedToken, CreateTokenParsed, Token, TokenList } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import { positiveMs } from '../clusters/durations.ts';
import type { Context } from '../context.ts';
import { time, timeOrNull } from '../to-wire.ts';
import { byOf, readWorkspace } from './read.ts';
import { newTokenSecret, tokenText, type TokenSecret } from '../../platform/token-secret.ts';

export async function createToken({ deps, actor }: Context, body: CreateTokenParsed): Promise<CreatedToken> {
  requireScope(actor, 'read', { honourStale: false });
  const made = newTokenSecret();
  const issued = await deps.people.issueToken(actor.workspace, {
    id: made.id,
    sha256: made.sha256,
    user: body.user ?? actor.user,
    name: body.name,
    scopes: body.scopes ?? null,
    expiresAtMs: body.expires === undefined ? null : deps.now() + positiveMs(body.expires, 'expires'),
    by: byOf(actor),
  });
  deps.views.expireWorkspace(actor.workspace);
  return toCreated(actor.workspace, made, issued);
}

export async function listTokens(context: Context): Promise<TokenList> {
  const { actor } = context;
  requireScope(actor, 'read', { honourStale: true });
  const { view } = await readWorkspace(context);
  const isAdmin = includes(actor.scopes, 'admin');
  return { items: view.tokens.filter(({ user }) => isAdmin || user === actor.user).map(toWireToken) };
}

export async function revokeToken(context: Context, { id }: { id: string }): Promise<Token> {
  const { deps, actor } = context;
  requireScope(actor, 'read', { honourStale: false });
  await deps.people.revokeToken(actor.workspace, { id, by: byOf(actor) });
  deps.views.expireWorkspace(actor.workspace);
  const { view } = await readWorkspace(context);
  const token = view.tokens.find((each) => each.id === id);
  if (token === undefined) throw new RopewalkError({ code: 'NOT_FOUND', message: 'There is no token with this id.' });
  return toWireToken(token);
}

export function toCreated(workspace: string, secret: TokenSecret, issued: IssuedToken): CreatedToken {
  const { id, user, scopes, expiresAtMs } = issued;
  return { id, token: tokenText(workspace, secret), workspace, user, scopes, expiresAt: timeOrNull(expiresAtMs) };
}

function toWireToken(token: WorkspaceToken): Token {
  const { id, name = '', user, scopes, createdAtMs, createdBy = null, expiresAtMs, revokedAtMs } = token;
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
