// Files by signed URLs of Cloud Storage, signed by IAM for the account of a VM: the permitted and the refused requests.
import { createHash } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { createGcsSignedFiles } from '../../platform/objects/gcs-signed-files.ts';
import type { GcsLocation } from '../../platform/objects/location.ts';
import { controlPlaneToken } from '../emulator/gcp/access.ts';
import { startGcpEmulator, type GcpEmulator } from '../emulator/gcp/emulator.ts';

const bucket = 'ropewalk-signed';
const rights = ['create', 'delete', 'get', 'list'].map((verb) => `storage.objects.${verb}`);
const sign = 'iam.serviceAccounts.signBlob';
let emulator: GcpEmulator;
beforeAll(async () => {
  emulator = await startGcpEmulator();
  await emulator.send({ op: 'bucket', name: bucket });
  vi.stubEnv('GCE_METADATA_HOST', new URL(emulator.url).host);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await emulator?.stop();
});
const permit = (permissions: string[]) => emulator.send({ op: 'permit', token: controlPlaneToken, permissions });
beforeEach(() => permit([...rights, sign]));

const location = (): GcsLocation => ({
  ...{ kind: 'gs', bucket, prefix: 'p-1/', endpoint: emulator.url, signing: { endpoint: emulator.url } },
});
const files = (nowMs = Date.now) => createGcsSignedFiles(location(), { nowMs });
const contentOf = (body: Uint8Array) => ({
  ...{ bytes: body.byteLength, sha256: createHash('sha256').update(body).digest('hex') },
});
async function put(url: string, headers: Record<string, string>, body: Uint8Array): Promise<string> {
  const { 'content-length': _length, ...rest } = headers;
  const response = await fetch(url, { method: 'PUT', headers: rest, body: Buffer.from(body) });
  return response.ok ? 'stored' : (/<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? String(response.status));
}
const large = Uint8Array.from({ length: 1_048_576 + 7 }, (_, index) => (index * 31 + (index >> 8)) % 256);

describe('files by signed URLs of Cloud Storage', () => {
  it.each([
    ['many bytes', large],
    ['none', new Uint8Array(0)],
  ])('go to the bucket and back without the API: %s', async (_, body) => {
    const key = `blobs/${body.byteLength}`;
    expect(await files().size(key)).toBeNull();
    const { url, headers } = await files().uploadUrl(key, contentOf(body));
    expect(await put(url, headers, body)).toBe('stored');
    expect(await files().size(key)).toBe(body.byteLength);
    const response = await fetch(await files().downloadUrl(key));
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), body)).toBe(0);
  });

  it('permit this upload and no other: bytes, length, object, method and time', async () => {
    const body = Buffer.from('what was announced');
    const { url, headers } = await files().uploadUrl('one', contentOf(body));
    const other = Buffer.from('what was Announced');
    expect(await put(url, headers, other)).toBe('XAmzContentSHA256Mismatch');
    expect(await put(url, headers, body.subarray(1))).toBe('EntityTooSmall');
    expect(await put(url, headers, Buffer.concat([body, body]))).toBe('EntityTooLarge');
    const forged = { ...headers, 'x-goog-content-sha256': contentOf(other).sha256 };
    expect(await put(url, forged, other)).toBe('SignatureDoesNotMatch');
    expect(await put(url.replace('/one?', '/two?'), headers, body)).toBe('SignatureDoesNotMatch');
    expect(await put(url, { ...headers, 'x-goog-acl': 'public-read' }, body)).toBe('MalformedSecurityHeader');
    expect(await put(await files().downloadUrl('one'), {}, body)).toBe('SignatureDoesNotMatch');
    const old = await files(() => Date.now() - 3_601_000).uploadUrl('one', contentOf(body));
    expect(await put(old.url, old.headers, body)).toBe('ExpiredToken');
    expect(await files().size('one')).toBeNull();
  });

  it('have the rights of the account that signed, when they are used', async () => {
    const body = Buffer.from('content');
    const { url, headers } = await files().uploadUrl('rights', contentOf(body));
    await permit(rights.filter((each) => each !== 'storage.objects.create'));
    expect(await put(url, headers, body)).toBe('AccessDenied');
  });

  it('say what is missing when Google does not sign', async () => {
    await permit(rights);
    const error = await refusalOf(files());
    expect(error.problem).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/does not let these credentials sign URLs as control-plane@.*signBlob/),
      hint: expect.stringContaining('Without signedUrls=true in ROPEWALK_OBJECTS, files go through the API.'),
    });
    expect(error.problem.message).not.toContain(controlPlaneToken);
  });

  it.each([
    ['an error of IAM', 503, /has an internal error \(HTTP 503\)/],
    ['too many requests', 429, /asks for fewer requests/],
  ])('name IAM when it does not sign: %s', async (_, status, why) => {
    const fault = {
      action: 'serviceAccounts.signBlob',
      kind: 'error',
      times: 9,
      status,
      code: 'BACKEND',
      message: 'Later.',
    } as const;
    await emulator.send({ op: 'fault', fault });
    const error = await refusalOf(files());
    await emulator.send({ op: 'clearFaults' });
    expect(error.problem).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(why) });
    expect(error.problem.message).toContain('IAM Service Account Credentials does not answer');
  });

  it('name IAM when it refuses connections', async () => {
    const away = { ...location(), signing: { endpoint: 'http://127.0.0.1:9' } };
    const error = await refusalOf(createGcsSignedFiles(away, { nowMs: Date.now }));
    expect(error.problem).toMatchObject({
      ...{ code: 'UNAVAILABLE' },
      message: 'IAM Service Account Credentials does not answer: http://127.0.0.1:9 refuses connections.',
    });
  });
});

async function refusalOf(of: ReturnType<typeof files>): Promise<RopewalkError> {
  const error: unknown = await of.downloadUrl('x').catch((each: unknown) => each);
  if (error instanceof RopewalkError) return error;
  throw new Error('it was not refused in words', { cause: error });
}
