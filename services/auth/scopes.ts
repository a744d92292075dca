// The first line of every service: may this caller do it?
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/workspace/authority.ts';
import type { Scope } from '../../domain/workspace/state.ts';
import type { Actor } from '../context.ts';

/**
 * A token that could not be checked just now may read and end things, but
 * not make new ones, unless the service says so.
 */
export function requireScope(actor: Actor, scope: Scope, options: { honourStale: boolean }): void {
  if (!includes(actor.scopes, scope)) {
    throw new RopewalkError({
      code: 'FORBIDDEN',
      message: `This token may not do that: it needs the scope ${scope}, and has ${actor.scopes.join(', ') || 'none'}.`,
      hint: 'Use a token with that scope.',
    });
  }
  if (actor.isStale && !options.honourStale) {
    throw new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message:
          'Your token cannot be checked now: the control plane does not answer. Reading, stopping and cancelling work.',
        hint: 'Try again after the time given in Retry-After.',
      },
      { retryAfterMs: 1_000 },
    );
  }
}
