// Content of files in a bucket of Google Cloud Storage: users and instances send and fetch it with signed URLs, never through the control
// plane. An upload's URL is bound to its SHA-256 and its length; the object appears when all of it has arrived.
import { createHash } from 'node:crypto';

import { signedUrlSeconds } from '../../domain/file-limits.ts';
import type { SignedFiles } from './files.ts';
import { createGcsClient, type GcsClient } from './gcs-client.ts';
import { gcsSize } from './gcs-files.ts';
import { createGcsSigner, type GcsSigner } from './gcs-signer.ts';
import { checkKey } from './key.ts';
import type { GcsLocation } from './location.ts';

export interface GcsSigning {
  client?: GcsClient;
  signer?: GcsSigner;
  nowMs?: () => number;
}

/** Makes no request. */
export function createGcsSignedFiles(
  location: GcsLocation,
  { client = createGcsClient(location), signer = createGcsSigner(location), nowMs = Date.now }: GcsSigning = {},
): SignedFiles {
  const urlOf = (method: 'GET' | 'PUT', key: string, headers: Record<string, string>): Promise<string> => {
    checkKey(key);
    return signedUrl(signer, { location, method, key, headers, atMs: nowMs() });
  };
  return {
    kind: 'signed',
    size: (key) => gcsSize(client, location, key),
    async uploadUrl(key, { bytes, sha256 }) {
      const headers = { 'x-goog-content-length-range': `${bytes},${bytes}`, 'x-goog-content-sha256': sha256 };
      return { url: await urlOf('PUT', key, headers), headers: { 'content-length': String(bytes), ...headers } };
    },
    downloadUrl: (key) => urlOf('GET', key, {}),
  };
}

interface Request {
  location: GcsLocation;
  method: 'GET' | 'PUT';
  key: string;
  /** Of Google's own; part of the signature. */
  headers: Record<string, string>;
  atMs: number;
}

const algorithm = 'GOOG4-RSA-SHA256';

/** Google's V4 signing process: https://docs.cloud.google.com/storage/docs/authentication/canonical-requests */
async function signedUrl(signer: GcsSigner, { location, method, key, headers, atMs }: Request): Promise<string> {
  const { origin, host } = new URL(location.endpoint ?? 'https://storage.googleapis.com');
  const path = `/${location.bucket}/${`${location.prefix}${key}`.split('/').map(encoded).join('/')}`;
  const time = `${new Date(atMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const all = Object.entries({ host, ...headers }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = all.map(([name]) => name).join(';');
  const query = Object.entries({
    'X-Goog-Algorithm': algorithm,
    'X-Goog-Credential': `${await signer.email()}/${scope}`,
    'X-Goog-Date': time,
    'X-Goog-Expires': String(signedUrlSeconds),
    'X-Goog-SignedHeaders': names,
  })
    .map(([name, value]) => `${name}=${encoded(value)}`)
    .join('&');
  const payload = headers['x-goog-content-sha256'] ?? 'UNSIGNED-PAYLOAD';
  const lines = all.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = [method, path, query, lines, names, payload].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const signature = await signer.sign([algorithm, time, scope, hash].join('\n'));
  return `${origin}${path}?${query}&X-Goog-Signature=${signature.toString('hex')}`;
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.codePointAt(0)?.toString(16).toUpperCase()}`);
