// Who is it? API tokens are `rw_{workspace}_{id}-{secret}`; the workspace's workflow holds the SHA-256 of the secret.
// Its view is cached for two seconds. While Temporal is away an older one is honoured, and the actor says so. Every way of being
// wrong gets the same answer, and a wrong secret and an unknown id get it by the same work: ids are nothing to be found out.
import { createHash, timingSafeEqual } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { newTokenMaxAgeMs, tokenMaxAgeMs } from '../../domain/limits.ts';
import { scopesNow } from '../../domain/workspace/authority.ts';
import type { Role, Scope, WorkspaceToken } from '../../domain/workspace/state.ts';
import type { Actor, Deps } from '../context.ts';

export async function verifyToken(deps: Pick<Deps, 'views' | 'now'>, text: string): Promise<Actor> {
  const parsed = tokenSyntax.exec(text);
  if (parsed === null) throw refused();
  const [, workspace = '', tokenId = '', secret = ''] = parsed;
  const given = createHash('sha256').update(secret).digest();
  const look = async (maxAgeMs: number): Promise<Found | null> => {
    const found = await lookUp(deps, workspace, tokenId, maxAgeMs);
    const isRight = isHash(found?.token.sha256 ?? nobodys, given);
    return found !== null && isRight ? found : null;
  };
  const found = (await look(tokenMaxAgeMs)) ?? (await look(newTokenMaxAgeMs));
  return actorOf(deps, workspace, found);
}

/**
 * Who this is by now, when it was long ago that somebody looked: a body takes minutes to arrive, and a store may be slow. Asks
 * nothing for what goes fast.
 */
export async function verifyAgain(deps: Pick<Deps, 'views' | 'now'>, actor: Actor): Promise<Actor> {
  const { workspace, tokenId } = actor;
  if (deps.now() - actor.checkedAtMs < recheckAfterMs) return actor;
  return actorOf(deps, workspace, await lookUp(deps, workspace, tokenId, tokenMaxAgeMs));
}

/** May this token still do what is going on? True while nobody can tell: an outage of ours cuts nobody off. */
export async function isStillGood(
  deps: Pick<Deps, 'views' | 'now'>,
  { workspace, tokenId }: { workspace: string; tokenId: string },
): Promise<boolean> {
  const { value } = await deps.views.workspace(workspace, tokenMaxAgeMs);
  const token = value?.tokens.find(({ id }) => id === tokenId);
  return value !== null && token !== undefined && scopesNow(value, token, deps.now()).length > 0;
}

/** With what is known of tokens by then, and as much again until it is used, within `revocationFeltWithinMs`. */
const recheckAfterMs = 1_000;

const tokenSyntax = /^rw_([a-z0-9][a-z0-9-]{0,62})_([a-z0-9]{12})-([A-Za-z0-9_-]{43})$/;
/** What the secret of an unknown token is compared with. */
const nobodys = '00'.repeat(32);

interface Found {
  token: WorkspaceToken;
  role: Role | null;
  scopes: Scope[];
  isStale: boolean;
}

async function lookUp(
  { views, now }: Pick<Deps, 'views' | 'now'>,
  workspace: string,
  tokenId: string,
  maxAgeMs: number,
): Promise<Found | null> {
  const { value, isStale } = await views.workspace(workspace, maxAgeMs);
  const token = value?.tokens.find(({ id }) => id === tokenId);
  if (value === null || token === undefined) return null;
  const role = value.users.find(({ name }) => name === token.user)?.role ?? null;
  return { token, role, scopes: scopesNow(value, token, now()), isStale };
}

function actorOf({ now }: Pick<Deps, 'now'>, workspace: string, found: Found | null): Actor {
  if (found === null) throw refused();
  const { token, role, scopes, isStale } = found;
  const checkedAtMs = now();
  const isOver = token.revokedAtMs !== null || (token.expiresAtMs !== null && token.expiresAtMs <= checkedAtMs);
  if (isOver || role === null) throw refused();
  const { user, id: tokenId, expiresAtMs } = token;
  return { workspace, user, tokenId, role, scopes, expiresAtMs, checkedAtMs, isStale };
}

/** In constant time. */
function isHash(sha256: string, given: Buffer): boolean {
  const known = Buffer.from(sha256, 'hex');
  return known.byteLength === given.byteLength && timingSafeEqual(known, given);
}

const refused = () =>
  new RopewalkError({
    code: 'UNAUTHENTICATED',
    message: 'The API token is missing, unknown, revoked or expired.',
    hint: 'Send `Authorization: Bearer rw_...`. `ropewalk dev` writes a token to config.yaml in the Ropewalk home.',
  });
