// The caller's user, and the current scopes of their token.
import type { Whoami } from '../../schema/people.ts';
import type { Context } from '../context.ts';
import { timeOrNull } from '../to-wire.ts';

export function whoami({ actor }: Context): Whoami {
  const { workspace, user, role, scopes, tokenId, expiresAtMs } = actor;
  return { workspace, user, role, scopes: [...scopes], tokenId, expiresAt: timeOrNull(expiresAtMs) };
}
