// Resolves a token to its user and scopes. API tokens are `rw_{workspace}_{id}-{secret}`; the database has a keyed hash of the secret. All wrong
// tokens get the same answer, and an unknown id takes the same work as a wrong secret, so ids are not disclosed.
import { RopewalkError } from '../../domain/errors.ts';
import { includes, scopesNow } from '../../domain/people/authority.ts';
import type { Scope } from '../../domain/people/state.ts';
import { isHashOf, parseToken } from '../../platform/token-secret.ts';
import type { Actor, Deps } from '../context.ts';
import type { KnownToken } from './token-cache.ts';

type Checking = Pick<Deps, 'tokenCache' | 'now' | 'monotonicMs'>;
type Verifying = Checking & Pick<Deps, 'keys'>;

/** Throws UNAUTHENTICATED, or UNAVAILABLE while the database does not answer. */
export async function verifyToken(deps: Verifying, text: string): Promise<Actor> {
  const parsed = parseToken(text);
  if (parsed === null) throw refused();
  const { workspace, id, secret } = parsed;
  const known = await deps.tokenCache.find(workspace, id);
  const isRight = isHashOf(deps.keys, known?.token.secretHash ?? null, secret);
  return actorOf(deps, workspace, isRight ? known : null);
}

/** Verifies again when the last check is old, because a body may take minutes to arrive and a store may be slow. Reads nothing for fast requests. */
export async function verifyAgain(deps: Checking, actor: Actor): Promise<Actor> {
  const { workspace, tokenId } = actor;
  if (deps.monotonicMs() - actor.checkedAtMs < recheckAfterMs) return actor;
  return actorOf(deps, workspace, await deps.tokenCache.find(workspace, tokenId));
}

/** Whether a token still has a scope, by default any. Rejects while the database does not answer; streams then continue. */
export async function isStillGood(
  deps: Checking,
  { workspace, tokenId }: { workspace: string; tokenId: string },
  scope?: Scope,
): Promise<boolean> {
  const known = await deps.tokenCache.find(workspace, tokenId);
  const scopes = known === null ? [] : scopesNow(workspace, known, deps.now());
  return scope === undefined ? scopes.length > 0 : includes(scopes, scope);
}

const recheckAfterMs = 1_000;

function actorOf(
  { now, monotonicMs }: Pick<Deps, 'now' | 'monotonicMs'>,
  workspace: string,
  known: KnownToken | null,
): Actor {
  if (known === null || known.user === null) throw refused();
  const { token, user } = known;
  const nowMs = now();
  const hasEnded = token.revokedAtMs !== null || (token.expiresAtMs !== null && token.expiresAtMs <= nowMs);
  if (hasEnded || token.userId !== user.id) throw refused();
  return {
    workspace,
    user: user.name,
    userId: user.id,
    role: user.role,
    tokenId: token.id,
    scopes: scopesNow(workspace, known, nowMs),
    expiresAtMs: token.expiresAtMs,
    checkedAtMs: monotonicMs(),
  };
}

const refused = () =>
  new RopewalkError({
    code: 'UNAUTHENTICATED',
    message: 'The API token is missing, unknown, revoked or expired.',
    hint: 'Send `Authorization: Bearer rw_...`. `ropewalk login` and `ropewalk dev` write a token to config.yaml in the Ropewalk home.',
  });
