// Instance identity documents, signed as the cloud signs them: base64 of RSA with SHA-256 over the document's bytes.
import { createSign, generateKeyPairSync } from 'node:crypto';

import type { Instance } from './state.ts';

export interface Signer {
  /** PEM: verifiers are configured with it in place of the vendor's certificate. */
  publicKey: string;
  document(instance: Instance, region: string, accountId: string): string;
  sign(document: string): string;
}

export function createSigner(): Signer {
  // As long as AWS's own.
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    document: (instance, region, accountId) =>
      JSON.stringify(
        {
          accountId,
          architecture: 'x86_64',
          availabilityZone: instance.zone,
          imageId: instance.data.imageId,
          instanceId: instance.id,
          instanceType: instance.type,
          pendingTime: new Date(instance.launchedAtMs).toISOString(),
          privateIp: instance.privateIp,
          region,
          version: '2017-09-30',
        },
        null,
        2,
      ),
    sign: (document) => createSign('sha256').update(document).sign(privateKey, 'base64'),
  };
}
