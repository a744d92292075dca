// The contract on the emulated Cloud Storage, and features that only a service has: rights, preconditions, throttling, lost
// answers, and its absence.
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { createGcsClient } from '../../platform/objects/gcs-client.ts';
import { createGcsFiles } from '../../platform/objects/gcs-files.ts';
import { createGcsObjects } from '../../platform/objects/gcs.ts';
import type { GcsLocation } from '../../platform/objects/location.ts';
import { startGcpEmulator, type GcpEmulator } from '../emulator/gcp/emulator.ts';
import { freePort } from '../support/free-port.ts';
import { bytes, describeObjects, text } from './objects-contract.ts';

const bucket = 'ropewalk-test';
const token = 'emulated-store';
const every = ['create', 'delete', 'get', 'list'].map((verb) => `storage.objects.${verb}`);
let emulator: GcpEmulator;
beforeAll(async () => {
  emulator = await startGcpEmulator();
  await emulator.send({ op: 'bucket', name: bucket });
});
afterAll(() => emulator?.stop());
beforeEach(async () => {
  await emulator.send({ op: 'clearFaults' });
  await emulator.send({ op: 'permit', token, permissions: every });
});

const at = (rest: Partial<GcsLocation> = {}): GcsLocation => ({
  ...{ kind: 'gs', bucket, prefix: '', endpoint: emulator.url, signing: null },
  ...rest,
});
const clientOf = (location: GcsLocation) => createGcsClient(location, { accessToken: async () => token, pauseMs: 1 });
const openAt = (location: GcsLocation) => createGcsObjects(location, clientOf(location));
const filesAt = (location: GcsLocation) => createGcsFiles(location, clientOf(location));
const refusal = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(error instanceof RopewalkError)) throw new Error('it was not refused in words', { cause: error });
  expect(error.problem.code).toBe('UNAVAILABLE');
  expect(`${error.problem.message} ${error.problem.hint}`).not.toContain(token);
  return error.problem.message;
};
const fault = (
  action: string,
  kind: 'error' | 'lost' | 'cut',
  rest: { status?: number; code?: string; times?: number },
) => emulator.send({ op: 'fault', fault: { action, kind, ...rest } });
const callsOf = async (action: string): Promise<number> => (await emulator.counts()).calls[action] ?? 0;

let stores = 0;
describeObjects('Cloud Storage', { open: async () => openAt(at({ prefix: `store-${(stores += 1)}/` })), runs: 8 });

describe('objects in Cloud Storage', () => {
  it('lists more keys than one answer has', async () => {
    const many = 'many-objects';
    const keys = Array.from({ length: 1_105 }, (_, index) => `k/${String(index).padStart(5, '0')}`);
    await emulator.send({ op: 'bucket', name: many, keys: [...keys.map((key) => `x/${key}`), 'y/k/other', 'w'] });
    const objects = openAt(at({ bucket: many, prefix: 'x/' }));
    expect(await objects.list('k/', { limit: 5_000 })).toEqual(keys);
    expect(await objects.list('k/', { limit: 1_001, after: keys[2] ?? '' })).toEqual(keys.slice(3, 1_004));
  });

  it('says which bucket does not exist', async () => {
    const missing = at({ bucket: 'missing-bucket' });
    const objects = openAt(missing);
    for (const attempt of [
      () => objects.put('x', bytes('x')),
      () => objects.create('x', bytes('x')),
      () => objects.get('x'),
      () => objects.delete('x'),
      () => objects.list('', { limit: 1 }),
      () => filesAt(missing).size('x'),
      () => filesAt(missing).read('x'),
    ]) {
      expect(await refusal(attempt())).toBe('There is no bucket missing-bucket.');
    }
  });

  it.each(every)('says that %s is missing, or the credentials are wrong', async (missing) => {
    const objects = openAt(at({ prefix: 'denied/' }));
    await objects.put('there', bytes('x'));
    const attempts = {
      'storage.objects.create': () => objects.put('new', bytes('x')),
      // Replacing deletes.
      'storage.objects.delete': () => objects.put('there', bytes('x')),
      'storage.objects.get': () => objects.get('there'),
      // Without it, Google does not reveal whether an object exists.
      'storage.objects.list': () => objects.get('absent'),
    };
    await emulator.send({ op: 'permit', token, permissions: every.filter((each) => each !== missing) });
    const attempt = Object.entries(attempts).find(([name]) => name === missing)?.[1];
    expect(await refusal(attempt?.() ?? Promise.resolve())).toContain(
      `no right to this request in the bucket ${bucket}`,
    );
    await emulator.send({ op: 'permit', token, permissions: 'revoked' });
    expect(await refusal(objects.get('there'))).toContain('does not accept the credentials');
  });

  it('names a bucket that keeps its objects, and one whose billing account is closed', async () => {
    const objects = openAt(at());
    await fault('objects.insert', 'error', { status: 403, code: 'retentionPolicyNotMet' });
    expect(await refusal(objects.put('x', bytes('x')))).toContain(`retention policy of the bucket ${bucket}`);
    await fault('objects.insert', 'error', { status: 403, code: 'accountDisabledForBilling' });
    expect(await refusal(objects.put('x', bytes('x')))).toContain('billing account of its project');
  });

  it('repeats what is throttled or breaks off, and says so when it goes on', async () => {
    const objects = openAt(at({ prefix: 'repeat/' }));
    await fault('objects.insert', 'error', { status: 429, code: 'rateLimitExceeded', times: 3 });
    await objects.put('x', bytes('kept'));
    await fault('objects.get', 'cut', { times: 2 });
    expect(text(await objects.get('x'))).toBe('kept');
    const before = await callsOf('objects.get');
    await fault('objects.get', 'error', { status: 503, times: 100 });
    expect(await refusal(objects.get('x'))).toContain('internal error (HTTP 503)');
    expect(await callsOf('objects.get')).toBe(before + 5);
    await emulator.send({ op: 'clearFaults' });
    await fault('objects.get', 'error', { status: 429, code: 'rateLimitExceeded', times: 100 });
    expect(await refusal(objects.get('x'))).toContain('asks for fewer requests');
  });

  it('knows its own object again when the answer of its creation was lost', async () => {
    const objects = openAt(at({ prefix: 'lost/' }));
    await fault('objects.insert', 'lost', {});
    expect(await objects.create('once', bytes('mine'))).toBe(true);
    await fault('objects.insert', 'cut', {});
    expect(await objects.create('once', bytes('mine'))).toBe(false);
    await fault('objects.insert', 'error', { status: 503 });
    expect(await objects.create('once', bytes('mine'))).toBe(false);
  });

  it('refuses bytes that arrive damaged, in both directions', async () => {
    const location = at({ prefix: 'damaged/' });
    const honest = clientOf(location);
    const flip = (all: Uint8Array, at: number) =>
      Uint8Array.from(all, (byte, index) => (index === at ? byte ^ 1 : byte));
    const written = createGcsObjects(location, {
      ...honest,
      // The last byte of the content is before the closing boundary.
      send: (request) => {
        const { body } = request;
        const end = body === undefined ? -1 : Buffer.from(body).lastIndexOf('\r\n--ropewalk-');
        return honest.send(body === undefined ? request : { ...request, body: flip(body, end - 1) });
      },
    });
    expect(await refusal(written.put('x', bytes('content')))).toContain('refused a request: invalid (HTTP 400)');
    await openAt(location).put('x', bytes('content'));
    const read = createGcsObjects(location, {
      ...honest,
      send: async (request) => {
        const answer = await honest.send(request);
        return { ...answer, body: flip(answer.body, 0) };
      },
    });
    expect(await refusal(read.get('x'))).toContain('arrived damaged');
  });

  it('says that Google does not answer, and that there are no credentials', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    expect(await refusal(openAt(at({ endpoint })).get('x'))).toBe(
      `The object store does not answer: ${endpoint} refuses connections.`,
    );
    const location = at();
    const none = createGcsClient(location, {
      accessToken: () => Promise.reject(new Error('Could not load the default credentials.')),
    });
    expect(await refusal(createGcsObjects(location, none).get('x'))).toBe(
      `There are no credentials for the bucket ${bucket}.`,
    );
  });
});

describe('files in Cloud Storage', () => {
  const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
  async function* chunksOf(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < content.byteLength; from += size) yield content.subarray(from, from + size);
  }
  const large = Uint8Array.from({ length: 3 * 1_048_576 + 7 }, (_, index) => (index * 31 + (index >> 8)) % 256);

  it('go through the control plane, byte-exact, also none', async () => {
    const files = filesAt(at({ prefix: 'files/' }));
    expect(await files.size('a')).toBeNull();
    expect(await files.read('a')).toBeNull();
    for (const content of [large, new Uint8Array(0)]) {
      await files.write('a', chunksOf(content, 65_536), { sha256: sha256(content), maxBytes: large.byteLength });
      expect(await files.size('a')).toBe(content.byteLength);
      const found = await files.read('a');
      expect(found?.bytes).toBe(content.byteLength);
      if (found !== null) expect(Buffer.compare(await buffer(found.stream), content)).toBe(0);
    }
  });

  it('are stored only when all of them arrived with their SHA-256 and size', async () => {
    const files = filesAt(at({ prefix: 'files/' }));
    const content = { sha256: sha256(large), maxBytes: large.byteLength };
    const changed = Uint8Array.from(large, (byte, index) => (index === large.length - 1 ? byte ^ 1 : byte));
    async function* breaksOff(): AsyncGenerator<Uint8Array> {
      yield* chunksOf(large.subarray(0, 200_000), 65_536);
      throw new Error('the sender is gone');
    }
    await expect(files.write('b', chunksOf(changed, 65_536), content)).rejects.toThrow('another SHA-256');
    await expect(files.write('b', chunksOf(large.subarray(1), 65_536), content)).rejects.toThrow('another SHA-256');
    await expect(files.write('b', chunksOf(bytes('one chunk'), 65_536), content)).rejects.toThrow('another SHA-256');
    await expect(files.write('b', breaksOff(), content)).rejects.toThrow('the sender is gone');
    await expect(files.write('b', chunksOf(large, 65_536), { ...content, maxBytes: 9 })).rejects.toThrow('at most 9');
    expect(await files.size('b')).toBeNull();
    await emulator.send({ op: 'permit', token, permissions: [] });
    expect(await refusal(files.write('b', chunksOf(large, 65_536), content))).toContain('no right to this request');
  });
});
