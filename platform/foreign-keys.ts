// The refusal of a process whose keys are not those of its deployment.
import { RopewalkError } from '../domain/errors.ts';
import type { KeyDecision } from '../domain/known-keys.ts';
import { restoreKeys } from './open-keys.ts';

/** @throws RopewalkError CONFLICT when the decision is a refusal. */
export function requireOwnKeys(
  decision: KeyDecision,
  { deploymentId, recordedIn }: { deploymentId: string; recordedIn: string },
): void {
  if (decision.do !== 'refuse') return;
  const reason =
    decision.why === 'missing'
      ? `they lack the newest key that ${recordedIn} names`
      : `a key that ${recordedIn} names has another value`;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `The keys of this process are not those of deployment ${deploymentId}: ${reason}.`,
    hint: `API tokens and sealed data work only with the deployment's keys: ${restoreKeys}`,
  });
}
