// Files in and out of batch jobs, and every other object of a deployment, in the emulated Cloud Storage.
import { readdir, readFile, rm } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { checkObjects } from '../../ops/doctor/objects.ts';
import { startGcpEmulator, type GcpEmulator } from '../emulator/gcp/emulator.ts';
import { describeFiles, prepare, type Setup } from './batch-files.ts';

describe.each([
  ['through the API', false],
  ['by signed URLs', true],
])('files of batch jobs, in a bucket of Cloud Storage, %s', (_, areSigned) => {
  const bucket = 'ropewalk-files';
  let emulator: GcpEmulator;
  let env: Record<string, string>;
  let setup: Setup;
  beforeAll(async () => {
    emulator = await startGcpEmulator();
    await emulator.send({ op: 'bucket', name: bucket });
    await emulator.send({ op: 'permit', permissions: await permissions() });
    const signing = areSigned ? `&signedUrls=true&signingEndpoint=${emulator.url}` : '';
    const ROPEWALK_OBJECTS = `gs://${bucket}/files?endpoint=${emulator.url}${signing}`;
    env = { ROPEWALK_OBJECTS, GCE_METADATA_HOST: new URL(emulator.url).host };
    setup = await prepare(env);
  });
  afterAll(async () => {
    await setup?.stack.stop();
    await rm(setup?.place ?? '', { recursive: true, force: true });
    await emulator?.stop();
  });
  describeFiles(() => setup);

  const permissions = async (): Promise<string[]> => [
    ...(areSigned ? ['iam.serviceAccounts.signBlob'] : []),
    ...(await objectStorePermissions()),
  ];

  it('holds every object of the deployment, with no more than the permissions of ops/gcp/object-store.json', async () => {
    expect(await readdir(setup.stack.home)).not.toContain('objects');
    const [used = []] = Object.values(await emulator.usedPermissions());
    expect(used).toEqual(await permissions());
    const { calls } = await emulator.counts();
    expect([(calls['signed.put'] ?? 0) > 0, (calls['signed.get'] ?? 0) > 0]).toEqual([areSigned, areSigned]);
  });

  it('is fully checked by ropewalk doctor', async () => {
    vi.stubEnv('GCE_METADATA_HOST', env['GCE_METADATA_HOST']);
    const examine = (text: string) => checkObjects({ home: '/nowhere', env: { ROPEWALK_OBJECTS: text } });
    try {
      expect(await examine(env['ROPEWALK_OBJECTS'] ?? '')).toMatchObject([
        {
          state: 'ok',
          text: expect.stringMatching(areSigned ? /ropewalk-files\/files\/: .*signed URLs work/ : /files\/: .*twice$/),
        },
      ]);
      expect(await examine(`gs://no-bucket?endpoint=${emulator.url}`)).toMatchObject([
        { state: 'broken', text: 'There is no bucket no-bucket.' },
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

const objectStorePermissions = async (): Promise<string[]> => {
  const role: { includedPermissions: string[] } = JSON.parse(
    await readFile(new URL('../../ops/gcp/object-store.json', import.meta.url), 'utf8'),
  );
  return role.includedPermissions;
};
