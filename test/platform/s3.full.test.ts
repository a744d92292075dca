// The contract on a real S3 server, and features that only a server has: rights, regions, pages of a thousand keys, and its absence.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { checkObjects } from '../../ops/doctor/objects.ts';
import type { S3Location } from '../../platform/objects/location.ts';
import { createS3Client, createS3Objects } from '../../platform/objects/s3.ts';
import { findS3Server, startS3Server, type S3Server } from '../support/s3-server.ts';
import { bytes, describeObjects, text } from './objects-contract.ts';

const found = await findS3Server();
if ('missing' in found) console.log(`The tests of S3 are left out. ${found.missing}`);

describe.runIf('program' in found)('with an S3 server', () => {
  let server: S3Server;
  let bucket: string;
  beforeAll(async () => {
    server = await startS3Server('program' in found ? found.program : '');
    bucket = await server.createBucket();
  });
  afterAll(() => server?.stop());

  const at = (rest: Partial<S3Location> = {}): S3Location => ({
    ...{ kind: 's3' as const, bucket, prefix: '', region: null, endpoint: server.endpoint, pathStyle: true },
    ...rest,
  });
  const openAt = (location: S3Location, credentials = server.credentials) =>
    createS3Objects(location, createS3Client(location, credentials));
  const refusal = async (promise: Promise<unknown>): Promise<string> => {
    const error: unknown = await promise.then(
      () => null,
      (error: unknown) => error,
    );
    if (!(error instanceof RopewalkError)) throw new Error('it was not refused in words', { cause: error });
    expect(error.problem.code).toBe('UNAVAILABLE');
    expect(`${error.problem.message} ${error.problem.hint}`).not.toContain(server.credentials.secretAccessKey);
    return error.problem.message;
  };

  let stores = 0;
  describeObjects('S3', { open: async () => openAt(at({ prefix: `store-${(stores += 1)}/` })), runs: 8 });

  it('lists more keys than one answer of S3 has', async () => {
    const objects = openAt(at({ prefix: 'many/' }));
    const keys = Array.from({ length: 1_105 }, (_, index) => `k/${String(index).padStart(5, '0')}`);
    for (let from = 0; from < keys.length; from += 50) {
      await Promise.all(keys.slice(from, from + 50).map((key) => objects.put(key, bytes(key))));
    }
    expect(await objects.list('k/', { limit: 5_000 })).toEqual(keys);
    expect(await objects.list('k/', { limit: 1_001, after: keys[2] ?? '' })).toEqual(keys.slice(3, 1_004));
  });

  it('says which bucket does not exist', async () => {
    const objects = openAt(at({ bucket: 'missing-bucket' }));
    for (const attempt of [
      () => objects.put('x', bytes('x')),
      () => objects.get('x'),
      () => objects.list('', { limit: 1 }),
    ]) {
      expect(await refusal(attempt())).toBe('There is no bucket missing-bucket.');
    }
  });

  it('says that a user has no rights, and that a key or its secret is wrong', async () => {
    const denied = openAt(at(), await server.createUser());
    expect(await refusal(denied.put('x', bytes('x')))).toContain(`no right to this request in the bucket ${bucket}`);
    expect(await refusal(denied.get('x'))).toContain('no right to this request');
    for (const credentials of [
      { accessKeyId: 'unknown', secretAccessKey: 'x' },
      { ...server.credentials, secretAccessKey: 'wrong' },
    ]) {
      expect(await refusal(openAt(at(), credentials).get('x'))).toContain('does not accept the credentials');
    }
  });

  it('says that the region is wrong', async () => {
    const objects = openAt(at({ region: 'eu-west-9' }));
    expect(await refusal(objects.get('x'))).toBe(`The bucket ${bucket} is not in the region eu-west-9.`);
  });

  it('says that the server does not answer, and works again once it does', async () => {
    const objects = openAt(at({ prefix: 'restart/' }));
    await objects.put('x', bytes('kept'));
    await server.kill();
    expect(await refusal(objects.get('x'))).toContain(`does not answer: ${server.endpoint} refuses connections`);
    await server.start();
    expect(text(await objects.get('x'))).toBe('kept');
  });

  it('is fully checked by ropewalk doctor', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', server.credentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', server.credentials.secretAccessKey);
    const examine = (name: string) =>
      checkObjects({
        home: '/nowhere',
        env: { ROPEWALK_OBJECTS: `s3://${name}/doctor?endpoint=${server.endpoint}&pathStyle=true` },
      });
    try {
      expect(await examine(bucket)).toMatchObject([
        { state: 'ok', text: expect.stringContaining(`s3://${bucket}/doctor/`) },
      ]);
      expect(await examine('no-bucket')).toMatchObject([{ state: 'broken', text: 'There is no bucket no-bucket.' }]);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(await openAt(at({ prefix: 'doctor/' })).list('', { limit: 1 })).toEqual([]);
  });
});
