// Renews an instance token in an answer after half of its lifetime, so an agent never requests one. Only a live instance gets a new token; one that
// was given up could otherwise use the API forever.
import { RopewalkError } from '../../domain/errors.ts';
import { instanceTokenTtlMs } from '../../domain/tokens/limits.ts';
import type { RenewedToken } from '../../platform/tokens.ts';
import type { InstanceContext } from '../context.ts';
import { requireLiveOrStopping } from './live-instance.ts';

/** Null when renewal is not due, or when an outage hides whether the instance is live. Throws FORBIDDEN when it was given up. */
export async function renewIfDue(context: InstanceContext): Promise<RenewedToken | null> {
  const { deps, actor } = context;
  if (actor.expiresAtMs - deps.now() > instanceTokenTtlMs / 2) return null;
  try {
    await requireLiveOrStopping(context);
  } catch (error) {
    // The next report tries again; the token is valid for another hour.
    if (error instanceof RopewalkError && error.problem.code !== 'UNAVAILABLE') throw error;
    return null;
  }
  const { workspace, cluster, job, instance } = actor;
  return deps.tokens.mintInstance({ workspace, cluster, job, instance });
}
