// Signed URLs of Cloud Storage, compared with Google's own library for Python: for the same key and time it produces the same URLs.
import { execFile } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, it } from 'vitest';

import { createGcsSignedFiles } from '../../../platform/objects/gcs-signed-files.ts';
import type { GcsLocation } from '../../../platform/objects/location.ts';
import { storagePython } from './python.ts';

const script = `
import json, sys
from google.oauth2 import service_account
from google.cloud.storage._signing import generate_signed_url_v4
made = []
for each in json.load(open(sys.argv[2])):
    made.append(generate_signed_url_v4(
        service_account.Credentials.from_service_account_file(sys.argv[1]), each["resource"], 3600,
        method=each["method"], headers=each["headers"], api_access_endpoint=each["endpoint"],
        _request_timestamp="20261124T010203Z"))
print(json.dumps(made))
`;
const email = 'signer@test-project.iam.gserviceaccount.com';
const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

it('are those that google-cloud-storage makes', { timeout: 600_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-gcs-'));
  try {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const signer = {
      email: async () => email,
      sign: async (text: string) => createSign('RSA-SHA256').update(text).sign(privateKey),
    };
    const account = {
      ...{ type: 'service_account', project_id: 'test-project', private_key_id: '1', client_email: email },
      ...{ client_id: '1', token_uri: 'https://oauth2.googleapis.com/token' },
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    };
    const [credentials, wanted] = [join(directory, 'key.json'), join(directory, 'wanted.json')];
    await writeFile(credentials, JSON.stringify(account), { mode: 0o600 });
    const endpoints = [null, 'http://127.0.0.1:4443'];
    const headers = { 'x-goog-content-length-range': '0,0', 'x-goog-content-sha256': sha256 };
    const asked = endpoints.flatMap((endpoint) =>
      (['PUT', 'GET'] as const).map((method) => ({
        ...{ method, resource: '/my_bucket/ropewalk/blobs/a.b-c_d/one', headers: method === 'PUT' ? headers : {} },
        endpoint: endpoint ?? 'https://storage.googleapis.com',
      })),
    );
    await writeFile(wanted, JSON.stringify(asked));
    const { stdout } = await promisify(execFile)(await storagePython(), ['-c', script, credentials, wanted]);
    const ours = await Promise.all(
      endpoints.flatMap((endpoint) => {
        const location: GcsLocation = { kind: 'gs', bucket: 'my_bucket', prefix: 'ropewalk/', endpoint, signing: null };
        const nowMs = (): number => Date.parse('2026-11-24T01:02:03Z');
        const files = createGcsSignedFiles(location, { signer, nowMs });
        const key = 'blobs/a.b-c_d/one';
        return [files.uploadUrl(key, { bytes: 0, sha256 }).then(({ url }) => url), files.downloadUrl(key)];
      }),
    );
    expect(ours).toEqual(JSON.parse(stdout));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
