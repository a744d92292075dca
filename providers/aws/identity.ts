// Verifies the identity document of an EC2 instance, which AWS signs for the region that the instance runs in. The signature is
// verified over the exact bytes before any of the content is used; the caller verifies the content.
import { createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { z } from 'zod';

import type { IdentityProof } from '../manifest.ts';

export interface InstanceIdentity {
  instanceId: string;
  region: string;
  accountId: string;
  /** The time of the instance's launch or last start. */
  pendingAtMs: number;
}

/** Maps a region to AWS's public key there. Instances of a region without a key cannot register. */
export type IdentityKeys = ReadonlyMap<string, KeyObject>;

const keyFile = z.record(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/), z.string());
const contents = z.object({
  instanceId: z.string(),
  region: z.string(),
  accountId: z.string(),
  pendingTime: z.iso.datetime(),
});

/** `path` is a JSON file {region: PEM} of public keys, or of the certificates that AWS publishes. */
export async function loadIdentityKeys(path: string): Promise<IdentityKeys> {
  return parseIdentityKeys(JSON.parse(await readFile(path, 'utf8')));
}

/** AWS's certificates of all regions, as of the date in identity-certificates.json. */
export async function shippedIdentityKeys(): Promise<IdentityKeys> {
  const text = await readFile(new URL('identity-certificates.json', import.meta.url), 'utf8');
  return parseIdentityKeys(z.object({ regions: z.unknown() }).parse(JSON.parse(text)).regions);
}

export function parseIdentityKeys(value: unknown): IdentityKeys {
  const keys = new Map<string, KeyObject>();
  for (const [region, pem] of Object.entries(keyFile.parse(value))) {
    const key = createPublicKey(pem);
    // AWS also publishes DSA certificates, for its older PKCS7 signature.
    if (key.asymmetricKeyType !== 'rsa') throw new Error(`The identity key of region ${region} is not an RSA key.`);
    keys.set(region, key);
  }
  return keys;
}

/** The signature is RSA with SHA-256. `problem` never quotes the document, because the caller controls it. */
export function verifyIdentity(keys: IdentityKeys, proof: IdentityProof): InstanceIdentity | { problem: string } {
  const claimed = parse(proof.document);
  if (claimed === null) return { problem: 'it is not an identity document' };
  // The claimed region selects the key: with any other key the signature is invalid.
  const key = keys.get(claimed.region);
  if (key === undefined) return { problem: 'its region has no key: see ROPEWALK_AWS_IDENTITY_KEYS' };
  const signature = Buffer.from(proof.signature, 'base64');
  if (!verify('sha256', Buffer.from(proof.document), key, signature)) return { problem: 'its signature is invalid' };
  const { instanceId, region, accountId, pendingTime } = claimed;
  return { instanceId, region, accountId, pendingAtMs: Date.parse(pendingTime) };
}

function parse(document: string): z.infer<typeof contents> | null {
  try {
    return contents.parse(JSON.parse(document));
  } catch {
    return null;
  }
}
