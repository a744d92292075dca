// Requests that were wrongly accepted, and texts that revealed too much.
import { describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { packageContent, packageFile } from './fixture.ts';

describe('files of a job', () => {
  const file = (path: string) => ({ path, content: '' });

  it.each([
    [['a', 'a/b'], 'files.1.path'],
    [['a/b/c', 'a/b'], 'files.0.path'],
    [['./x/y/z', 'x'], 'files.0.path'],
  ])('of which one is the folder of another are refused: %j', async (paths, field) => {
    const api = await createTestApi();
    const response = await api.call('POST', '/v1/jobs', { body: { command: ['true'], files: paths.map(file) } });
    expect([response.status, (await response.json()).error.field]).toEqual([422, field]);
  });

  it('beside each other are taken', async () => {
    const api = await createTestApi();
    const files = ['a/b', 'a/c', 'ab', 'a.b'].map(file);
    expect((await api.call('POST', '/v1/jobs', { body: { command: ['true'], files } })).status).toBe(201);
  });
});

describe('input files of a job', () => {
  const stored = (path: string) => ({ path, ...packageFile });

  async function createStored() {
    const api = await createTestApi();
    const sent = await api.call('PUT', `/v1/file-blobs/${packageFile.sha256}`, { body: packageContent });
    expect(sent.status).toBe(204);
    const submit = async (body: object) => {
      const response = await api.call('POST', '/v1/jobs', { body: { command: ['true'], ...body } });
      return [response.status, (await response.json()).error?.field];
    };
    const fill = async (...paths: string[]) => {
      const files = paths.map(stored);
      expect((await api.call('POST', '/v1/filestores/raw/files', { body: { files } })).status).toBe(204);
    };
    return { submit, fill };
  }

  it.each([
    [['a', 'a/b'], 'inputFiles.1.path'],
    [['a/b/c', 'a'], 'inputFiles.0.path'],
    [['a', 'a'], 'inputFiles.1.path'],
  ])('that cannot lie in one directory are refused: %j', async (paths, field) => {
    const { submit } = await createStored();
    expect(await submit({ inputFiles: paths.map(stored) })).toEqual([422, field]);
  });

  it('of a filestore give way to those of the request, and are refused where these are in their way', async () => {
    const { submit, fill } = await createStored();
    await fill('a/b', 'c');
    expect(await submit({ inputFilestore: 'raw', inputFiles: [stored('c')] })).toEqual([201, undefined]);
    for (const own of [{ inputFiles: [stored('a')] }, { files: [{ path: 'c/d', content: '' }] }]) {
      expect(await submit({ inputFilestore: 'raw', ...own })).toEqual([422, 'inputFilestore']);
    }
    // By two jobs that have filled it.
    await fill('a');
    expect(await submit({ inputFilestore: 'raw' })).toEqual([422, 'inputFilestore']);
  });
});

it('why a private cluster waits for capacity is for its creator: it names what was asked for', async () => {
  const api = await createTestApi();
  const number = await api.startCluster({ workers: 1, privateToCreator: true });
  const state = api.workflows.clusters.get(number);
  if (state === undefined) throw new Error('no cluster');
  state.waiting = { sinceMs: api.now(), nextTryMs: api.now() + 10_000, tries: 1 };
  state.failures['NO_CAPACITY'] = { count: 1, text: 'no launch-codes.large in us-east-1a', lastAtMs: api.now() };
  api.clock.offsetMs += 2_000;
  const read = async (token: string) => {
    const answer = await (await api.call('GET', `/v1/clusters/${number}`, { token })).json();
    return answer.waitingForCapacity;
  };
  expect((await read(api.token)).text).not.toBe('');
  const other = await api.addToken('default', ['read', 'write', 'admin'], 'bob');
  expect(await read(other)).toMatchObject({ text: '', missing: expect.any(Number) });
});
