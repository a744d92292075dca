// An instance token is renewed in an answer once half of its life has passed, so that an agent never asks for one. Only an
// instance that its cluster counts on gets another: one that was given up and lives on would else speak to us forever.
import { RopewalkError } from '../../domain/errors.ts';
import { instanceTokenTtlMs } from '../../domain/tokens/limits.ts';
import type { RenewedToken } from '../../platform/tokens.ts';
import type { InstanceContext } from '../context.ts';
import { requireLiveOrStopping } from './live-instance.ts';

/** Null when it is not due, or when an outage hides whether the instance is live. Throws FORBIDDEN when it was given up. */
export async function renewIfDue(context: InstanceContext): Promise<RenewedToken | null> {
  const { deps, actor } = context;
  if (actor.expiresAtMs - deps.now() > instanceTokenTtlMs / 2) return null;
  try {
    await requireLiveOrStopping(context);
  } catch (error) {
    // The next report tries again, and there is an hour left.
    if (error instanceof RopewalkError && error.problem.code !== 'UNAVAILABLE') throw error;
    return null;
  }
  const { workspace, cluster, job, instance } = actor;
  return deps.tokens.mintInstance({ workspace, cluster, job, instance });
}
