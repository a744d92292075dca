// Confirms once that the Temporal namespace is the deployment's, before any call to it: the API starts while Temporal is unavailable.
import type { Client } from '@temporalio/client';

import { RopewalkError } from '../domain/errors.ts';
import { type NamespaceClaim, readNamespace, requireOwnNamespace } from '../platform/namespace-claim.ts';

/** Rejects while Temporal does not answer, and in a foreign namespace, which it reports first. */
export function createNamespaceCheck(
  client: Client,
  claim: NamespaceClaim,
  onForeign: (error: RopewalkError) => void,
): () => Promise<void> {
  let confirmed: Promise<void> | null = null;
  const check = async (): Promise<void> => {
    const found = await client.withDeadline(Date.now() + deadlineMs, () => readNamespace(client));
    try {
      requireOwnNamespace(found, claim);
    } catch (error) {
      if (error instanceof RopewalkError) onForeign(error);
      throw error;
    }
  };
  return () => {
    confirmed ??= check().catch((error: unknown) => {
      confirmed = null;
      throw error;
    });
    return confirmed;
  };
}

const deadlineMs = 2_000;
