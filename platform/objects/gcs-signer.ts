// Signs as the service account of Application Default Credentials: with its key where there is one, else by IAM, which holds the keys of
// the service accounts of VMs.
import { GoogleAuth } from 'google-auth-library';

import { RopewalkError } from '../../domain/errors.ts';
import { gcsFailure, signingFailure } from './gcs-errors.ts';
import type { GcsLocation } from './location.ts';

export interface GcsSigner {
  /** @throws RopewalkError UNAVAILABLE when the credentials are of no service account. */
  email(): Promise<string>;
  /** @throws RopewalkError UNAVAILABLE */
  sign(text: string): Promise<Buffer>;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const signWithinMs = 15_000;
const hint =
  'ropewalk setup gcp --bucket prepares a service account for it (docs/gcp.md, "Permissions"). Without signedUrls=true in ROPEWALK_OBJECTS, files go through the API.';

/** Makes no request. */
export function createGcsSigner(location: GcsLocation): GcsSigner {
  // Without a project, which signing does not need, the library would run gcloud to ask for one.
  const auth = new GoogleAuth({ scopes: [scope], projectId: 'none' });
  const other = location.signing?.endpoint ?? null;
  const endpoint = other === null ? undefined : `${other}/v1/projects/-/serviceAccounts/`;
  let email: string | null = null;
  return {
    async email() {
      try {
        email ??= (await inTime(auth.getCredentials())).client_email ?? null;
      } catch (error) {
        throw gcsFailure(error, location);
      }
      if (email !== null) return email;
      throw refused('These credentials are of no service account, so that they cannot sign URLs.');
    },
    async sign(text) {
      try {
        return Buffer.from(await inTime(auth.sign(text, endpoint)), 'base64');
      } catch (error) {
        throw refusalOf(error, email) ?? signingFailure(error, location) ?? gcsFailure(error, location);
      }
    },
  };
}

/** Google's library waits without a limit of its own. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DOMException('no answer in time', 'TimeoutError')), signWithinMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function refusalOf(error: unknown, email: string | null): RopewalkError | null {
  if (!(error instanceof Error) || !('status' in error)) return null;
  if (error.status !== 403 && error.status !== 404) return null;
  return refused(`Google does not let these credentials sign URLs as ${email}: ${error.message.slice(0, 300)}`, error);
}

const refused = (message: string, cause?: unknown): RopewalkError =>
  new RopewalkError({ code: 'UNAVAILABLE', message, hint }, cause === undefined ? {} : { cause });
