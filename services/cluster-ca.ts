// Opens the certificate authority of a cluster, for the time of one certificate. Its key is in the vault until the cluster ends; no part of it may
// reach an error or a log, so errors of parsers are discarded.
import { z } from 'zod';

import { RopewalkError } from '../domain/errors.ts';
import type { ClusterCa } from '../platform/pki/cluster-ca.ts';
import { createSecret } from '../platform/secret.ts';
import type { Vault } from '../platform/vault/vault.ts';

const sealed = z.object({ certificatePem: z.string(), keyPem: z.string() });

export async function sealCa(vault: Vault, caRef: string, ca: ClusterCa, ttlMs: number): Promise<void> {
  const text = JSON.stringify({ certificatePem: ca.certificatePem, keyPem: ca.keyPem.reveal() });
  await vault.seal(caRef, Buffer.from(text), { ttlMs });
}

/** Throws CONFLICT when it was deleted because the cluster has ended. */
export async function openCa(vault: Vault, cluster: number, caRef: string): Promise<ClusterCa> {
  const bytes = await vault.open(caRef);
  if (bytes === null) {
    throw new RopewalkError({
      code: 'CONFLICT',
      message: `Cluster ${cluster} gives no certificates any more: it has ended.`,
      hint: 'Start a new cluster.',
    });
  }
  const { certificatePem, keyPem } = parse(bytes);
  return { certificatePem, keyPem: createSecret(keyPem) };
}

function parse(bytes: Uint8Array): z.output<typeof sealed> {
  try {
    return sealed.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    // The cause is dropped deliberately, because it quotes the unreadable text.
    throw new RopewalkError({ code: 'INTERNAL', message: 'A sealed certificate authority cannot be read.' });
  }
}
