// What removing a setup has in common for all clouds.
import { RopewalkError } from '../domain/errors.ts';
import type { SetupStep } from './manifest.ts';

/** In order, each reported when it is done; those without a call are left out. Stops at the first failure, or when aborted. */
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

/** A setup is removed only when no instance of the deployment is left. `where`: the region or project. @throws RopewalkError CONFLICT */
export function requireNone(where: string, ids: readonly string[]): void {
  if (ids.length === 0) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `${where} has instances of this deployment: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', ...' : ''}. Nothing was removed.`,
    hint: 'Stop its clusters and jobs, or run ropewalk destroy --by-tag, then run this command again.',
  });
}
