// Which EC2 instance is speaking: its identity document, signed by AWS for the region it runs in. The document is checked to
// the byte before anything in it is believed; what it then must say, whoever asks decides.
import { createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { z } from 'zod';

export interface IdentityProof {
  /** As the metadata service gave it. */
  document: string;
  /** Base64 of RSA with SHA-256 over the document. */
  signature: string;
}

export interface InstanceIdentity {
  instanceId: string;
  region: string;
  accountId: string;
  /** When the instance was launched, or last started. */
  pendingAtMs: number;
}

/** Region -> AWS's public key there. A region without a key is one where none of ours run. */
export type IdentityKeys = ReadonlyMap<string, KeyObject>;

const keyFile = z.record(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/), z.string());
const contents = z.object({
  instanceId: z.string(),
  region: z.string(),
  accountId: z.string(),
  pendingTime: z.iso.datetime(),
});

/** `path`: a JSON file {region: PEM}, of public keys or of the certificates that AWS publishes. */
export async function loadIdentityKeys(path: string): Promise<IdentityKeys> {
  return parseIdentityKeys(JSON.parse(await readFile(path, 'utf8')));
}

export function parseIdentityKeys(value: unknown): IdentityKeys {
  const keys = new Map<string, KeyObject>();
  for (const [region, pem] of Object.entries(keyFile.parse(value))) {
    const key = createPublicKey(pem);
    // AWS publishes certificates of DSA too, for its older PKCS7 signature.
    if (key.asymmetricKeyType !== 'rsa') throw new Error(`The identity key of region ${region} is not one of RSA.`);
    keys.set(region, key);
  }
  return keys;
}

/** Says why not, without repeating the document: it comes from whoever asks. */
export function verifyIdentity(keys: IdentityKeys, proof: IdentityProof): InstanceIdentity | { problem: string } {
  const claimed = parse(proof.document);
  if (claimed === null) return { problem: 'it is not an identity document' };
  // The region only chooses the key: with another one the signature does not hold.
  const key = keys.get(claimed.region);
  if (key === undefined) return { problem: 'there is no key for its region: see ROPEWALK_AWS_IDENTITY_KEYS' };
  const signature = Buffer.from(proof.signature, 'base64');
  if (!verify('sha256', Buffer.from(proof.document), key, signature)) return { problem: 'its signature does not hold' };
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
