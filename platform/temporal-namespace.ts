// The Temporal namespace of a process, and that of its deployment. In another namespace the workflows of the open rows are
// missing: a reconciliation there would end open jobs and terminate their instances.
import { RopewalkError } from '../domain/errors.ts';

/** Of the API, the Temporal workers and the operator's commands alike, where neither TEMPORAL_NAMESPACE nor a profile names one. */
const usualNamespace = 'ropewalk';

/** A variable that is set to nothing, as compose files do, is not set. */
export const namespaceOf = (named: string | undefined): string => named || usualNamespace;

/** The variables for Temporal's own configuration reader, without those that are set to nothing. */
export const temporalVariables = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || (value === '' && name.startsWith('TEMPORAL_')) ? [] : [[name, value]],
    ),
  );

/**
 * `claimed`: the namespace in the database; null before `ropewalk init` has prepared one.
 *
 * @throws RopewalkError CONFLICT when the process uses another namespace.
 */
export function requireNamespace(
  namespace: string,
  { deploymentId, claimed }: { deploymentId: string; claimed: string | null },
): void {
  if (claimed === null || claimed === namespace) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `Deployment ${deploymentId} uses the Temporal namespace ${claimed}, not ${namespace}; nothing was changed.`,
    hint: `Set TEMPORAL_NAMESPACE=${claimed}. To move to another namespace: docs/operations.md, "Another Temporal namespace".`,
  });
}
