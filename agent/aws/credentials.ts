// The credentials of the instance's role, which the metadata service issues and renews. They leave this process only as
// signatures.
import { z } from 'zod';

import type { Metadata } from './metadata.ts';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
}

export interface RoleCredentials {
  /** Valid for some minutes at least; null when the instance has no role. */
  get(): Promise<Credentials | null>;
  /** Discards refused credentials; the next `get` reads new ones. */
  forget(): void;
}

const path = 'latest/meta-data/iam/security-credentials/';
const answer = z.object({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string(),
  Expiration: z.iso.datetime(),
});

/** The service has new credentials well before the old ones expire. */
const renewBeforeMs = 5 * 60_000;
/** EC2 issues credentials for six hours. */
const maxLifeMs = 6 * 3_600_000;

export function createRoleCredentials(metadata: Metadata): RoleCredentials {
  let known: { credentials: Credentials; goodUntilMs: number } | null = null;
  return {
    get: async () => {
      if (known !== null && performance.now() < known.goodUntilMs) return known.credentials;
      const role = (await metadata.read(path))?.split('\n')[0]?.trim() ?? '';
      const text = role === '' ? null : await metadata.read(path + role);
      if (text === null) return null;
      const { AccessKeyId, SecretAccessKey, Token, Expiration } = answer.parse(JSON.parse(text));
      const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token };
      // Measured by the monotonic clock: a step of the wall clock must not keep expired credentials in use.
      const lifeMs = Math.min(maxLifeMs, Date.parse(Expiration) - Date.now());
      known = { credentials, goodUntilMs: performance.now() + lifeMs - renewBeforeMs };
      return credentials;
    },
    forget: () => (known = null),
  };
}
