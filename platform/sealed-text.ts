// Texts that a browser stores for us and cannot read: encrypted with a key of the deployment, for one purpose and a short time.
import { EncryptJWT, jwtDecrypt, type JWTPayload } from 'jose';

import type { Keys } from './keys.ts';

export interface SealedTexts {
  seal(purpose: string, claims: JWTPayload, lifeMs: number): Promise<string>;
  /** Null for a text that was not sealed here, was sealed for another purpose, or has expired. */
  open(purpose: string, text: string): Promise<JWTPayload | null>;
}

export const createSealedTexts = (keys: Keys, now: () => number): SealedTexts => ({
  seal: (purpose, claims, lifeMs) =>
    new EncryptJWT(claims)
      .setProtectedHeader({ ...algorithms, kid: keys.current.kid })
      .setIssuer(issuer)
      .setAudience(purpose)
      .setExpirationTime(Math.floor((now() + lifeMs) / 1_000))
      .encrypt(keys.current.signIn),
  open: async (purpose, text) => {
    try {
      const { payload } = await jwtDecrypt(text, ({ kid }) => keyOf(keys, kid), {
        ...{ issuer, audience: purpose, requiredClaims: ['exp'], currentDate: new Date(now()) },
        ...{ keyManagementAlgorithms: [algorithms.alg], contentEncryptionAlgorithms: [algorithms.enc] },
      });
      return payload;
    } catch {
      return null;
    }
  },
});

function keyOf(keys: Keys, kid: string | undefined): Uint8Array {
  const set = keys.byKid(kid ?? '');
  if (set === null) throw new Error('unknown key id');
  return set.signIn;
}

const algorithms = { alg: 'dir', enc: 'A256GCM' };
const issuer = 'ropewalk';
