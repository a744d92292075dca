// Whether a request has a valid signature of AWS (Signature Version 4), by a key that the emulator issued or that tests share.
// The SDK's clients sign by themselves; the agent on an instance has its own signer.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { AwsError } from './aws-error.ts';

/** Null for keys that the emulator did not issue. */
function secretOf(accessKeyId: string): { secret: string; token: string | null } | null {
  if (accessKeyId === 'AKIATEST') return { secret: 'test', token: null };
  // Of instances, and of roles in other accounts.
  return /^ASIA(\d{12}|[0-9A-F]{17})$/.test(accessKeyId) ? { secret: 'emulated', token: 'emulated' } : null;
}

const scheme =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^/]+\/[^/]+\/aws4_request), *SignedHeaders=([^,]+), *Signature=(\w+)$/;

/** @throws AwsError with the service's own message. */
export function requireSignature(request: IncomingMessage, body: string): void {
  const [, accessKeyId = '', scope = '', signedHeaders = '', signature = ''] =
    scheme.exec(request.headers.authorization ?? '') ?? [];
  const known = secretOf(accessKeyId);
  if (known === null) return;
  const header = (name: string): string =>
    String(request.headers[name] ?? '')
      .trim()
      .replace(/ +/g, ' ');
  const names = signedHeaders.split(';');
  if (!names.includes('host') || (known.token !== null && header('x-amz-security-token') !== known.token))
    throw new AwsError('InvalidClientTokenId', 'The security token included in the request is invalid.', 403);
  const url = new URL(request.url ?? '/', 'http://emulator');
  const canonical = [
    ...[
      request.method ?? '',
      url.pathname,
      [...url.searchParams]
        .map((pair) => pair.join('='))
        .toSorted()
        .join('&'),
    ],
    ...[...names.map((name) => `${name}:${header(name)}`), '', signedHeaders, sha256(body)],
  ];
  const toSign = ['AWS4-HMAC-SHA256', header('x-amz-date'), scope, sha256(canonical.join('\n'))].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${known.secret}`);
  const [ours, theirs] = [hmac(key, toSign), Buffer.from(signature, 'hex')];
  if (ours.length === theirs.length && timingSafeEqual(ours, theirs)) return;
  const message = 'The request signature we calculated does not match the signature you provided.';
  const isJson = request.headers['x-amz-target'] !== undefined;
  throw new AwsError(isJson ? 'InvalidSignatureException' : 'SignatureDoesNotMatch', message, 403);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
