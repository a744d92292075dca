// Common code for removing a setup on all clouds.
import { RopewalkError } from '../domain/errors.ts';
import type { SetupStep } from './manifest.ts';

/** Applies the removals in order and reports each; skips those without a call. Stops at the first failure, or when aborted. */
export async function carryOutRemovals<Call>(
  removals: readonly { step: SetupStep; remove: Call | null }[],
  signal: AbortSignal,
  carryOut: (call: Call, step: SetupStep, where: string) => Promise<unknown>,
  onDone: (step: SetupStep) => void,
): Promise<void> {
  for (const { step, remove } of removals) {
    signal.throwIfAborted();
    if (remove === null) continue;
    await carryOut(remove, step, step.region === null ? '' : ` in ${step.region}`);
    onDone(step);
  }
}

/**
 * A setup can be removed only after all instances of the deployment have ended. `where` is the region or project. @throws
 * RopewalkError CONFLICT
 */
export function requireNone(where: string, ids: readonly string[]): void {
  if (ids.length === 0) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `${where} has instances of this deployment: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', ...' : ''}. Nothing was removed.`,
    hint: 'Stop its clusters and jobs, or run ropewalk destroy --by-tag, then run this command again.',
  });
}
