// Verifies the identity token of an instance: a JWT that Google signs, for an audience that the agent names. Google's keys are
// fetched on demand and cached.
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { z } from 'zod';

import { gceAudience } from '../../domain/cloud-names.ts';
import type { IdentityVerifier } from '../manifest.ts';

export const googleKeysUrl = 'https://www.googleapis.com/oauth2/v3/certs';

/** The claims of a token with `format=full`. */
const claims = z.object({
  google: z.object({
    compute_engine: z.object({
      project_id: z.string(),
      zone: z.string(),
      instance_name: z.string(),
      instance_creation_timestamp: z.number(),
    }),
  }),
});

/** Google signs tokens for the instances of every project; those of other projects are refused. */
export function createIdentityVerifier(project: string, keysUrl: string = googleKeysUrl): IdentityVerifier {
  const keys = createRemoteJWKSet(new URL(keysUrl));
  return {
    async verify({ document }, deploymentId) {
      const audience = gceAudience(deploymentId);
      const options = { issuer: 'https://accounts.google.com', audience, algorithms: ['RS256'] };
      const verified = await jwtVerify(document, keys, options).catch((error: unknown) => {
        if (error instanceof errors.JOSEError && !isUnreachable(error)) return error;
        throw error;
      });
      if (verified instanceof errors.JOSEError)
        return { problem: `its identity token is not valid (${verified.code})` };
      const found = claims.safeParse(verified.payload);
      if (!found.success) return { problem: 'its identity token does not name an instance' };
      const {
        project_id: of,
        instance_name: instanceId,
        instance_creation_timestamp: seconds,
      } = found.data.google.compute_engine;
      if (of !== project) return { problem: 'its identity token is of another project' };
      return { instanceId, pendingAtMs: seconds * 1_000 };
    },
  };
}

/** Google's keys could not be fetched; the agent retries later. */
const isUnreachable = ({ code }: errors.JOSEError): boolean =>
  code === 'ERR_JWKS_TIMEOUT' || code === 'ERR_JOSE_GENERIC';
