import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import { createTestApi } from '../api/support.ts';

it('package files are stored and read as they are, and are missing before', async () => {
  const api = await createTestApi();
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
    api.app.request(new Request(url, init));
  const client = createClient({ apiUrl: 'http://127.0.0.1:1', token: api.token, fetch });
  const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(await client.packageFiles.missing([sha256])).toEqual([sha256]);
  await client.packageFiles.store(sha256, bytes);
  expect(await client.packageFiles.missing([sha256])).toEqual([]);
  expect(await client.packageFiles.read(sha256)).toEqual(bytes);
  await expect(client.packageFiles.store(sha256, new Uint8Array(1))).rejects.toMatchObject({ field: 'sha256' });
});
