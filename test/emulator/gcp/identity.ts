// Identity tokens of instances, signed as Google signs them: RS256, with the claims of `format=full`.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWK } from 'jose';

import type { Instance } from './state.ts';
import type { EmulatedProject } from './project.ts';

export interface Signer {
  /** As at https://www.googleapis.com/oauth2/v3/certs. */
  keys: { keys: JWK[] };
  sign(instance: Instance, audience: string, isFull: boolean): Promise<string>;
}

export async function createSigner(project: EmulatedProject): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const kid = 'emulated-1';
  return {
    keys: { keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' }] },
    sign: (instance, audience, isFull) => {
      const nowSeconds = Math.floor(project.clock.nowMs() / 1_000);
      const google = {
        compute_engine: {
          project_id: project.id,
          project_number: 123456789012,
          zone: instance.zone,
          instance_id: instance.numericId,
          instance_name: instance.name,
          instance_creation_timestamp: Math.floor(instance.createdAtMs / 1_000),
          instance_confidentiality: 0,
        },
      };
      return new SignJWT({
        azp: '1',
        email: instance.serviceAccount,
        email_verified: true,
        ...(isFull ? { google } : {}),
      })
        .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
        .setIssuer('https://accounts.google.com')
        .setAudience(audience)
        .setSubject('1')
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + 3_600)
        .sign(privateKey);
    },
  };
}
