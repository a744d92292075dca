// Checks, in the first line of every service, that the caller's token has a scope.
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/people/authority.ts';
import type { Scope } from '../../domain/people/state.ts';
import type { Actor } from '../context.ts';

/** Throws FORBIDDEN. */
export function requireScope(actor: Actor, scope: Scope): void {
  if (includes(actor.scopes, scope)) return;
  throw new RopewalkError({
    code: 'FORBIDDEN',
    message: `This token may not do that: it needs the scope ${scope}, and has ${actor.scopes.join(', ') || 'none'}.`,
    hint: 'Use a token with that scope.',
  });
}
