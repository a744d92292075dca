// Signed URLs of Cloud Storage: IAM's signatures, and the PUT and GET of the XML API that they permit. Every signed part is
// compared, and the content with the signed length and SHA-256; the signer's own permissions count.
import { createHash, createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { GcpError } from './gcp-error.ts';
import { storageRoute } from './storage.ts';
import type { StorageAnswer, StorageRoute } from './storage.ts';
import type { EmulatedProject } from './project.ts';

export interface SignedCall {
  method: string;
  /** As received. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const keys = new Map<string, ReturnType<typeof newKey>>();
const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });

function keyOf(email: string) {
  const found = keys.get(email) ?? newKey();
  keys.set(email, found);
  return found;
}

/** `payload` and the answer are Base64. */
export const signBlob = (email: string, payload: string): { keyId: string; signedBlob: string } => ({
  keyId: 'emulated',
  signedBlob: createSign('RSA-SHA256')
    .update(Buffer.from(payload, 'base64'))
    .sign(keyOf(email).privateKey)
    .toString('base64'),
});

/** Null when the URL is not signed. */
export function signedRoute(project: EmulatedProject, call: SignedCall): StorageRoute | null {
  const { pathname, searchParams } = new URL(call.url, 'http://gcp');
  if (!searchParams.has('X-Goog-Signature')) return null;
  const [, bucket = '', object = ''] = /^\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
  const isPut = call.method === 'PUT';
  const run = (): StorageAnswer => {
    try {
      const email = signerOf(call, project.clock.nowMs());
      if (isPut) checkContent(call);
      const caller = project.access.callerNamed(email);
      const [at, method, query] = isPut
        ? ['/upload/storage/v1/b', 'POST', { uploadType: 'media', name: decodeURIComponent(object) }]
        : ['/storage/v1/b', 'GET', { alt: 'media' }];
      const path = `${at}/${bucket}/o${isPut ? '' : `/${encodeURIComponent(decodeURIComponent(object))}`}`;
      const of = {
        method,
        pathname: path,
        query: new URLSearchParams(query),
        contentType: '',
        body: call.body,
        caller,
      };
      const answer = storageRoute(project, of)?.run();
      if (answer === undefined || answer.status >= 400) throw new GcpError(answer?.status ?? 404, 'NoSuchKey', '');
      return isPut ? { status: 200, media: Buffer.alloc(0) } : answer;
    } catch (error) {
      if (!(error instanceof GcpError)) throw error;
      const code =
        error.reason === 'forbidden' ? 'AccessDenied' : error.reason === 'notFound' ? 'NoSuchBucket' : error.reason;
      const xml = `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${error.message}</Message></Error>`;
      return { status: error.status, media: Buffer.from(xml) };
    }
  };
  return { name: isPut ? 'signed.put' : 'signed.get', run };
}

/** The signer of exactly this request, if the signature has not expired. */
function signerOf({ method, url, headers }: SignedCall, nowMs: number): string {
  const [path = '', search = ''] = url.split('?');
  const query = new URLSearchParams(search);
  const of = (name: string): string => query.get(`X-Goog-${name}`) ?? '';
  const [email = '', ...scope] = of('Credential').split('/');
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(of('Date')) ?? [];
  const fromMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const seconds = Number(of('Expires'));
  if (of('Algorithm') !== 'GOOG4-RSA-SHA256' || !(seconds > 0 && seconds <= 604_800) || Number.isNaN(fromMs))
    throw new GcpError(
      400,
      'AuthenticationRequired',
      'The signed URL lacks a parameter, or is longer than seven days.',
    );
  if (nowMs > fromMs + seconds * 1_000) throw new GcpError(400, 'ExpiredToken', 'The provided token has expired.');
  const signed = of('SignedHeaders').split(';');
  const missing = Object.keys(headers).find(
    (name) => name.startsWith('x-goog-') && name !== 'x-goog-content-sha256' && !signed.includes(name),
  );
  if (!signed.includes('host') || missing !== undefined)
    throw new GcpError(400, 'MalformedSecurityHeader', 'Header was included in the request, but not in signedheaders.');
  const canonical = [
    ...[method, path],
    search
      .split('&')
      .filter((each) => !each.startsWith('X-Goog-Signature='))
      .toSorted()
      .join('&'),
    ...[signed.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join(''), signed.join(';')],
    String(headers['x-goog-content-sha256'] ?? 'UNSIGNED-PAYLOAD'),
  ].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const text = ['GOOG4-RSA-SHA256', of('Date'), scope.join('/'), hash].join('\n');
  if (!createVerify('RSA-SHA256').update(text).verify(keyOf(email).publicKey, of('Signature'), 'hex'))
    throw new GcpError(403, 'SignatureDoesNotMatch', 'Access denied.');
  return email;
}

function checkContent({ headers, body }: SignedCall): void {
  const range = headers['x-goog-content-length-range'];
  if (range !== undefined) {
    const [min = 0, max = 0] = String(range).split(',').map(Number);
    if (body.byteLength < min)
      throw new GcpError(400, 'EntityTooSmall', 'Your proposed upload is smaller than allowed.');
    if (body.byteLength > max)
      throw new GcpError(400, 'EntityTooLarge', 'Your proposed upload is larger than allowed.');
  }
  const hash = headers['x-goog-content-sha256'];
  if (hash !== undefined && hash !== createHash('sha256').update(body).digest('hex'))
    throw new GcpError(400, 'XAmzContentSHA256Mismatch', 'The content hash does not match what was computed.');
}
