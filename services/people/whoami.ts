// Who one is, and what one's token may do now.
import type { Whoami } from '../../schema/people.ts';
import type { Context } from '../context.ts';
import { timeOrNull } from '../to-wire.ts';

export function whoami({ actor }: Context): Whoami {
  const { workspace, user, role, scopes, tokenId, expiresAtMs } = actor;
  return { workspace, user, role, scopes: [...scopes], tokenId, expiresAt: timeOrNull(expiresAtMs) };
}
