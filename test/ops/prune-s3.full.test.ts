// `ropewalk prune` in a bucket of a real S3 server, beside the objects of another deployment.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openDatabase } from '../../ops/database.ts';
import { loadHost } from '../../ops/host.ts';
import { prepareKeys } from '../../ops/keys.ts';
import { blobKey, bundleKey } from '../../platform/archive-keys.ts';
import { readBucket, type S3Location } from '../../platform/objects/location.ts';
import { createS3Client, createS3Objects } from '../../platform/objects/s3.ts';
import { createVault } from '../../platform/vault/vault.ts';
import { runCli } from '../cli/run-cli.ts';
import { findS3Server, startS3Server, type S3Server } from '../support/s3-server.ts';
import { makeHome, removeHome } from '../support/stack.ts';

const found = await findS3Server();
if ('missing' in found) console.log(`The test of S3 is left out. ${found.missing}`);

describe.runIf('program' in found)('with an S3 server', () => {
  let server: S3Server;
  let home: string;
  beforeAll(async () => {
    server = await startS3Server('program' in found ? found.program : '');
    home = await makeHome();
  });
  afterAll(async () => {
    await server?.stop();
    await removeHome(home);
  });

  it('deletes the unused contents, and nothing below another prefix', async () => {
    const { accessKeyId, secretAccessKey } = server.credentials;
    const bucket = await server.createBucket();
    const env = {
      ...{ ROPEWALK_HOME: home, HOME: home, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
      ROPEWALK_OBJECTS: `s3://${bucket}/own?endpoint=${server.endpoint}&pathStyle=true`,
    };
    const location = readBucket(env);
    if (location?.kind !== 's3') throw new Error('the location names a bucket of S3');
    const openAt = (at: S3Location) => createS3Objects(at, createS3Client(at, server.credentials));
    const [own, others] = [openAt(location), openAt({ ...location, prefix: 'other/' })];
    const host = await loadHost(home);
    const { store } = await openDatabase({ env: {}, home, host });
    try {
      const { deploymentId } = host;
      const place = { home, keysSecret: null };
      const { keys } = await prepareKeys(place, { deploymentId, deployment: store.deployment, bucket: null });
      const [used, unused] = ['a'.repeat(64), 'b'.repeat(64)];
      for (const objects of [own, others]) {
        for (const sha256 of [used, unused]) await objects.put(blobKey('w', sha256), Buffer.from(sha256));
      }
      const bundle = Buffer.from(JSON.stringify({ inputs: { list: { sha256: used } } }));
      await createVault(own, keys).seal(bundleKey('w', 'adm-1'), bundle, { ttlMs: 86_400_000 });
      const { stdout, stderr } = await runCli(['prune', '--format', 'json'], { env });
      expect([stderr, JSON.parse(stdout)]).toEqual(['', { kept: 1, unused: 1, bytes: 64, dryRun: false }]);
      expect(await own.list('files/', { limit: 10 })).toEqual([blobKey('w', used)]);
      expect(await others.list('files/', { limit: 10 })).toHaveLength(2);
    } finally {
      await store.close();
    }
  });
});
