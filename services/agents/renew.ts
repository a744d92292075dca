// An instance token is renewed in an answer once half of its life is over, so that an agent never asks for one.
import { instanceTokenTtlMs } from '../../domain/limits.ts';
import type { RenewedToken } from '../../platform/tokens.ts';
import type { InstanceContext } from '../context.ts';

export async function renewIfDue({ deps, actor }: InstanceContext): Promise<RenewedToken | null> {
  if (actor.expiresAtMs - deps.now() > instanceTokenTtlMs / 2) return null;
  const { workspace, cluster, job, instance } = actor;
  return deps.tokens.mintInstance({ workspace, cluster, job, instance });
}
