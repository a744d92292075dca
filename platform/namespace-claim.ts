// Whose a Temporal namespace is, as the namespace itself says: the memo of its schedule `reconcile` names the deployment, and the server has
// given it an id. Names are no evidence: another server may have a namespace of the same name. In a foreign namespace a Temporal
// worker would end the other deployment's jobs for good, and a reconciliation those of its own database.
import { type Client, NamespaceNotFoundError, ScheduleNotFoundError } from '@temporalio/client';

import { type NamespaceMemo, reconcileScheduleId } from '../contracts/reconcile.ts';
import { RopewalkError } from '../domain/errors.ts';

export interface NamespaceFound {
  name: string;
  exists: boolean;
  /** The server's id; null when it does not report one. */
  id: string | null;
  /** The deployment that has claimed the namespace; null when none has. */
  owner: string | null;
}

export interface NamespaceClaim {
  deploymentId: string;
  /** The id in the database; null when it has none. */
  temporalNamespaceId: string | null;
}

/** @throws the client's error when Temporal is unavailable. */
export async function readNamespace(client: Client): Promise<NamespaceFound> {
  // One after the other: a failed call would leave the other one repeating itself, which fails the process once the connection is closed.
  const described = await describe(client);
  return { name: client.options.namespace, ...described, owner: await namespaceOwner(client) };
}

async function describe(client: Client): Promise<Pick<NamespaceFound, 'exists' | 'id'>> {
  try {
    const { namespace } = client.options;
    const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
    return { exists: true, id: namespaceInfo?.id || null };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === notFound) return { exists: false, id: null };
    throw error;
  }
}

const notFound = 5;

/** Null also when the namespace does not exist. */
export async function namespaceOwner(client: Client): Promise<string | null> {
  try {
    const { memo } = await client.schedule.getHandle(reconcileScheduleId).describe();
    const owner = memo?.['deploymentId' satisfies keyof NamespaceMemo];
    return typeof owner === 'string' ? owner : '(unknown)';
  } catch (error) {
    if (error instanceof ScheduleNotFoundError || error instanceof NamespaceNotFoundError) return null;
    throw error;
  }
}

/**
 * For the API and the Temporal workers.
 *
 * @throws RopewalkError CONFLICT when the namespace is not this deployment's.
 */
export function requireOwnNamespace(found: NamespaceFound, claim: NamespaceClaim): void {
  requireSameNamespace(found, claim);
  const { name, owner } = found;
  const { deploymentId } = claim;
  if (owner === deploymentId) return;
  if (owner === null) {
    throw new RopewalkError({
      code: 'CONFLICT',
      message: `No deployment has claimed the Temporal namespace ${name}.`,
      hint: 'Check TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. If both are right, run `ropewalk init`, which claims it.',
    });
  }
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `The Temporal namespace ${name} belongs to deployment ${owner}; the database belongs to ${deploymentId}.`,
    hint: `Use the Temporal server and namespace of ${deploymentId} (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE), or the database of ${owner}.`,
  });
}

/**
 * For `ropewalk init` and `ropewalk dev` too: a namespace of the same name on another server has none of the open workflows.
 *
 * @throws RopewalkError CONFLICT when the namespace is not the one that the database has recorded.
 */
export function requireSameNamespace(
  found: NamespaceFound,
  { deploymentId, temporalNamespaceId }: NamespaceClaim,
): void {
  const { name, exists } = found;
  if (temporalNamespaceId === null || isRecorded(found, temporalNamespaceId)) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `This Temporal server ${exists ? 'has another' : 'lacks the'} namespace ${name}${exists ? ' than the one' : ''} that deployment ${deploymentId} uses; nothing was changed.`,
    hint: 'Use the Temporal server of the deployment (TEMPORAL_ADDRESS), or restore its database. If it is lost for good: `ropewalk init --new-temporal-namespace`, on one machine `ropewalk dev --new-temporal-namespace` (docs/operations.md, "A lost Temporal namespace").',
  });
}

/** Where either id is unknown, the name decides. */
export const isRecorded = ({ exists, id }: NamespaceFound, recordedId: string | null): boolean =>
  exists && (id === null || recordedId === null || id === recordedId);
