import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { sealedForDays } from '../../domain/cluster/limits.ts';
import { createDaskInstance } from './dask-support.ts';
import { createTestApi, type TestApi } from './support.ts';

const content = { module: 'launch-codes' };
const text = JSON.stringify(content);
const hashOf = (of: string): string => createHash('sha256').update(of).digest('hex');
const sha256 = hashOf(text);
const day = 86_400_000;

const put = (api: TestApi, path = sha256): Promise<Response> =>
  api.call('PUT', `/v1/package-files/${path}`, { body: content });

const missing = async (api: TestApi, sha256s: string[]): Promise<unknown> =>
  (await api.call('POST', '/v1/missing-package-files', { body: { sha256s } })).json();

const software = { packageFiles: [{ name: 'mine-1.0-py3-none-any.whl', sha256 }] };

describe('a package file', () => {
  it('is missing until it is stored, and is read as it was sent', async () => {
    const api = await createTestApi();
    const other = hashOf('another');
    expect(await missing(api, [sha256, other])).toEqual({ missing: [sha256, other] });
    expect((await put(api)).status).toBe(204);
    expect((await put(api)).status).toBe(204);
    expect(await missing(api, [sha256, other])).toEqual({ missing: [other] });
    const answer = await api.call('GET', `/v1/package-files/${sha256}`);
    expect(await answer.text()).toBe(text);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
  });

  it('may have any bytes', async () => {
    const api = await createTestApi();
    const bytes = Uint8Array.from({ length: 1024 }, (_, index) => (index * 7) % 256);
    const path = `/v1/package-files/${createHash('sha256').update(bytes).digest('hex')}`;
    const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/octet-stream' };
    expect((await api.app.request(path, { method: 'PUT', headers, body: bytes })).status).toBe(204);
    const answer = await api.app.request(path, { headers });
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes);
  });

  it('is sealed at rest', async () => {
    const api = await createTestApi();
    await put(api);
    for (const key of api.objects.keys()) {
      expect(Buffer.from((await api.objects.get(key)) ?? []).toString('utf8')).not.toContain('launch-codes');
    }
  });

  it('is refused under another SHA-256, and nothing is stored', async () => {
    const api = await createTestApi();
    const answer = await put(api, hashOf('another'));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: 'VALIDATION', field: 'sha256' } });
    expect(api.objects.keys()).toEqual([]);
  });

  it('has to be stored again before it expires under a cluster that names it', async () => {
    const api = await createTestApi();
    await put(api);
    api.clock.offsetMs += (sealedForDays + 1) * day;
    expect(await missing(api, [sha256])).toEqual({ missing: [sha256] });
    await put(api);
    expect(await missing(api, [sha256])).toEqual({ missing: [] });
  });
});

describe('a cluster or a job', () => {
  it.each(['/v1/clusters', '/v1/jobs'])('is refused at %s while a file that it names is not stored', async (path) => {
    const api = await createTestApi();
    const body = { ...(path === '/v1/jobs' && { command: ['true'] }), software };
    const answer = await api.call('POST', path, { body });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: 'VALIDATION', field: 'software.packageFiles.0' } });
    expect(api.objects.keys()).toEqual([]);
    await put(api);
    expect((await api.call('POST', path, { body })).status).toBe(201);
  });

  it.each([
    [{ packageFiles: [{ name: '../x.whl', sha256 }] }, 'software.packageFiles.0.name'],
    [{ packageFiles: [{ name: 'x.tar.gz', sha256 }] }, 'software.packageFiles.0.name'],
    [{ packageFiles: [...software.packageFiles, ...software.packageFiles] }, 'software.packageFiles.1.name'],
    [{ packageFiles: [{ name: 'x.whl', sha256: 'abc' }] }, 'software.packageFiles.0.sha256'],
    [{ python: '2.7' }, 'software.python'],
    [{ requirements: ['--index-url=https://x'] }, 'software.requirements.0'],
  ])('is refused for %j by the name of the field', async (wrong, field) => {
    const api = await createTestApi();
    const answer = await api.call('POST', '/v1/jobs', { body: { command: ['true'], software: wrong } });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: 'VALIDATION', field } });
  });

  it('has instances that read the files that it names, and no others', async () => {
    const api = await createTestApi();
    await put(api);
    const withFile = await createDaskInstance(api, await api.startCluster({ software, workers: 0 }), 0);
    const without = await createDaskInstance(api, await api.startCluster({ workers: 0 }), 0);
    const path = `/v1/agent/package-files/${sha256}`;
    const answer = await api.call('GET', path, { token: withFile.token });
    expect(await answer.text()).toBe(text);
    expect((await api.call('GET', path, { token: without.token })).status).toBe(404);
  });
});
