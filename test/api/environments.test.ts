// Named environments: a name points to content, and a started job or cluster keeps its content.
import { expect, it } from 'vitest';

import { createVault, type Vault } from '../../platform/vault/vault.ts';
import { memoryObjects, testKeys } from '../platform/support.ts';
import { createTestApi, type TestApi } from './support.ts';

const password = 'hunter2';
const software = {
  requirements: [`mine @ https://ada:${password}@index.example/mine.whl`, 'pandas==2.3.1'],
  pinned: true,
};

async function sealedRuntimes(api: TestApi): Promise<unknown[]> {
  const keys = api.objects.keys().filter((key) => key.startsWith('vault/') && !/environments|-ca\./.test(key));
  const bundles = await Promise.all(keys.map((key) => api.vault.open(key)));
  return bundles.map((bytes) => JSON.parse(Buffer.from(bytes ?? []).toString()).runtime);
}

it('may have capital letters in their names, which distinguish them', async () => {
  const api = await createTestApi();
  for (const [name, requirement] of [
    ['Science', 'dask'],
    ['science', 'polars'],
  ]) {
    const body = { software: { requirements: [requirement] } };
    expect((await api.call('PUT', `/v1/environments/${name}`, { body })).status).toBeLessThan(300);
  }
  for (const name of ['Science', 'science']) {
    const body = { command: ['true'], softwareName: name };
    expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(201);
  }
  const runtimes = await sealedRuntimes(api);
  for (const requirement of ['dask', 'polars'])
    expect(runtimes.filter((each) => JSON.stringify(each).includes(requirement))).toHaveLength(1);
});

it('are set, listed, read without passwords, changed and deleted, and each change is on record', async () => {
  const api = await createTestApi();
  const put = async (name: string, body: object) =>
    (await api.call('PUT', `/v1/environments/${name}`, { body })).json();
  expect(await put('science', { software })).toMatchObject({
    name: 'science',
    version: 1,
    summary: '2 pinned requirements',
  });
  expect(await put('science', { software })).toMatchObject({ version: 1 });
  expect(await put('science', { software: { requirements: ['polars'], python: '3.12' } })).toMatchObject({
    version: 2,
  });
  expect(await put('images', { container: 'daskdev/dask' })).toMatchObject({
    kind: 'container',
    summary: 'daskdev/dask',
  });
  const list = async (query = '') => (await api.call('GET', `/v1/environments${query}`)).json();
  expect((await list()).items.map((one: { name: string }) => one.name)).toEqual(['images', 'science']);
  expect(await list('?limit=1')).toMatchObject({ next: 'images' });
  expect((await list('?after=images')).items).toMatchObject([{ name: 'science', version: 2 }]);
  await put('private', { software });
  const details = await api.call('GET', '/v1/environments/private');
  expect(details.status).toBe(200);
  const text = await details.text();
  expect(JSON.parse(text).software.requirements).toEqual([
    'mine @ https://[secret]@index.example/…/mine.whl',
    'pandas==2.3.1',
  ]);
  const stored = await Promise.all(api.objects.keys().map((key) => api.objects.get(key)));
  for (const each of [...stored.map((bytes) => Buffer.from(bytes ?? []).toString()), api.logged.join()]) {
    expect(each).not.toContain(password);
  }
  expect(api.objects.keys().filter((key) => key.includes('environments'))).toHaveLength(3);
  expect((await api.call('DELETE', '/v1/environments/science')).status).toBe(200);
  const again = await api.call('DELETE', '/v1/environments/science');
  expect(again.status).toBe(404);
  expect((await again.json()).error.hint).toContain('ropewalk env list');
  const admin = await api.addToken('default', ['read', 'admin'], 'root', 'admin');
  const { events } = await (await api.call('GET', '/v1/workspace', { token: admin })).json();
  const said = events.map(({ text: line }: { text: string }) => line);
  expect(said).toContain('The environment science has version 2: 1 requirements, Python 3.12.');
  expect(said).toContain('The environment science is deleted.');
  expect(JSON.stringify(events)).not.toContain(password);
});

it('keep their content when it is set again while a request is about to delete what it replaced', async () => {
  const objects = memoryObjects();
  const waiting: (() => void)[] = [];
  const sealed = createVault(objects, testKeys());
  // Each deletion happens later than the next request.
  const vault: Vault = {
    ...sealed,
    delete: async (key) => {
      await new Promise<void>((go) => waiting.push(go));
      await sealed.delete(key);
    },
  };
  const api = await createTestApi({ objects, vault });
  const put = (body: object) => api.call('PUT', '/v1/environments/science', { body });
  const goOn = async (running: Promise<Response>): Promise<void> => {
    await expect.poll(() => waiting.length).toBe(1);
    waiting.shift()?.();
    expect((await running).status).toBe(200);
  };
  const [first, second] = [{ software }, { container: 'daskdev/dask' }];
  await put(first);
  const replacing = put(second);
  await expect.poll(() => waiting.length).toBe(1);
  const again = put(first);
  await expect.poll(() => waiting.length).toBe(2);
  for (const go of waiting.splice(0)) go();
  expect((await Promise.all([replacing, again])).map(({ status }) => status)).toEqual([200, 200]);
  expect((await api.call('GET', '/v1/environments/science')).status).toBe(200);
  const deleting = api.call('DELETE', '/v1/environments/science');
  await expect.poll(() => waiting.length).toBe(1);
  expect((await put(first)).status).toBe(200);
  await goOn(deleting);
  expect(await (await api.call('GET', '/v1/environments/science')).json()).toMatchObject({ kind: 'environment' });
  expect(objects.keys().filter((key) => key.includes('environments'))).toHaveLength(1);
});

it('give a cluster and a job what they point to, and a change later does not reach them', async () => {
  const api = await createTestApi();
  await api.call('PUT', '/v1/environments/science', { body: { software } });
  const command = ['run.sh'];
  const script = { path: 'run.sh', content: Buffer.from('# COILED software science\n').toString('base64') };
  await api.startCluster({ softwareName: 'science' });
  await api.submit({ command, files: [script], software: { requirements: ['sent-by-the-client'] } });
  await api.submit({ command: ['true'], options: { software: 'science' } });
  await api.call('PUT', '/v1/environments/science', {
    body: { container: 'daskdev/dask', ignoreContainerEntrypoint: true },
  });
  const before = { kind: 'environment', requirements: software.requirements, pinned: true };
  expect(await sealedRuntimes(api)).toMatchObject([before, before, before]);
  await api.submit({ command: ['true'], softwareName: 'science' });
  expect(await sealedRuntimes(api)).toContainEqual({
    kind: 'container',
    image: 'daskdev/dask',
    ignoreEntrypoint: true,
    registryAuth: {},
  });
});

it('are refused beside another runtime, under an unknown name, and without content', async () => {
  const api = await createTestApi();
  await api.call('PUT', '/v1/environments/science', { body: { software } });
  const answer = async (method: 'POST' | 'PUT', path: string, body: object) => {
    const response = await api.call(method, path, { body });
    return [response.status, (await response.json()).error?.field];
  };
  const job = { command: ['true'], softwareName: 'science' };
  expect(await answer('POST', '/v1/jobs', { ...job, software: {} })).toEqual([422, 'softwareName']);
  expect(await answer('POST', '/v1/jobs', { ...job, container: 'x' })).toEqual([422, 'softwareName']);
  expect(await answer('POST', '/v1/clusters', { softwareName: 'science', software: {} })).toEqual([
    422,
    'softwareName',
  ]);
  expect(await answer('POST', '/v1/jobs', { command: ['true'], softwareName: 'nothing' })).toEqual([404, undefined]);
  expect(await answer('PUT', '/v1/environments/empty', {})).toEqual([422, 'software']);
  expect(await answer('PUT', '/v1/environments/both', { software, container: 'x' })).toEqual([422, 'container']);
  expect(await answer('PUT', '/v1/environments/odd', { software: { requirements: ['-r x'] } })).toEqual([
    422,
    'software.requirements.0',
  ]);
});
