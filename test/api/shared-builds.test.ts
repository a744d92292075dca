// Environments that instances share: the rights to build, fetch and store each.
import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { buildLeaseMs } from '../../domain/environment/limits.ts';
import { removeUnusedArchives } from '../../services/shared-builds/remove-unused.ts';
import { sharingApi } from '../builders/shared-builds.ts';
import { createDaskInstance } from './dask-support.ts';
import { createTestApi, type TestApi } from './support.ts';

const hash = 'a'.repeat(64);
const platform = 'debian 12, glibc 2.36, cpython linux-x86_64 cpython-311-x86_64-linux-gnu 3.11.2, /usr/bin/python3.11';
const software = { requirements: ['numpy==2.3.1'], pinned: true };
const bytes = Buffer.from('an archive');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const archive = { claim: 1, sha256, bytes: bytes.length, unpackedBytes: 30, buildMs: 61_000, isPinned: true };

let close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of close) await each();
  close = [];
});

async function open(more: Parameters<typeof sharingApi>[0] = {}) {
  const opened = await sharingApi(more);
  close.push(opened.close);
  return opened;
}

/** An instance of a new cluster with this software. */
async function instance(api: TestApi, body: object = { software }, workspace = 'default') {
  const options = workspace === 'default' ? {} : { token: await api.addToken(workspace) };
  const number = await api.startCluster({ workers: 0, ...body }, options);
  const { token, report, id } = await createDaskInstance(api, number, 0, workspace);
  const post = async (path: string, content: object) => {
    const answer = await api.call('POST', `/v1/agent/environment-builds${path}`, { token, body: content });
    return { status: answer.status, ...(await answer.json()) };
  };
  return {
    ...{ id, report },
    claim: (more: object = {}) => post('', { hash, platform, damaged: null, ...more }),
    progress: (build: string, body: object) => post(`/${build}/progress`, body),
    announce: (build: string, more: object = {}) => post(`/${build}/archive`, { ...archive, ...more }),
    put: (build: string, name = sha256, content: string = bytes.toString()) =>
      api.call('PUT', `/v1/agent/environment-archives/${build}/${name}`, { token, body: content }),
    get: (build: string, name = sha256) =>
      api.call('GET', `/v1/agent/environment-archives/${build}/${name}`, { token }),
  };
}

async function stored(api: TestApi) {
  const builder = await instance(api);
  const { build } = await builder.claim();
  expect((await builder.announce(build)).state).toBe('upload');
  expect((await builder.put(build)).status).toBe(204);
  expect((await builder.announce(build)).state).toBe('stored');
  return { builder, build: String(build) };
}

describe('an environment', () => {
  it('is built by the first instance that asks, and fetched by those of other clusters with the same software', async () => {
    const { api } = await open();
    const builder = await instance(api);
    const other = await instance(api);
    const first = await builder.claim();
    expect(first).toMatchObject({ do: 'build', claim: 1, renewEveryMs: buildLeaseMs / 4 });
    expect(await other.claim()).toMatchObject({ do: 'wait', retryAfterMs: 500, stage: null });
    const { build, claim } = { build: String(first.build), claim: 1 };
    expect(await builder.progress(build, { claim, state: 'building', stage: 'compile' })).toMatchObject({
      isWanted: true,
    });
    expect(await other.claim()).toMatchObject({ do: 'wait', stage: 'compile' });
    expect(await builder.progress(build, { claim, state: 'building', stage: 'ready' })).toMatchObject({ status: 422 });
    expect(await builder.announce(first.build)).toMatchObject({ state: 'upload', url: null });
    // Announced, and not sent: it is not visible.
    expect((await other.claim()).do).toBe('wait');
    expect((await other.get(first.build)).status).toBe(404);
    expect((await builder.put(first.build, sha256, 'other bytes')).status).toBe(422);
    expect(await builder.announce(first.build)).toMatchObject({ state: 'upload' });
    expect((await builder.put(first.build)).status).toBe(204);
    expect((await other.claim()).do).toBe('wait');
    expect(await builder.announce(first.build)).toEqual({ status: 200, state: 'stored' });
    expect(await builder.announce(first.build)).toEqual({ status: 200, state: 'stored' });
    const found = { do: 'download', build: first.build, sha256, bytes: bytes.length, unpackedBytes: 30, url: null };
    expect(await other.claim()).toEqual({ status: 200, ...found });
    expect(await (await other.get(first.build)).text()).toBe('an archive');
    // A stored environment is never overwritten.
    expect((await builder.put(first.build)).status).toBe(404);
  });

  it('of other software, of another platform or after another setup script is another one', async () => {
    const { api } = await open();
    const { build } = await stored(api);
    const others = [
      await instance(api, { software: { ...software, requirements: ['numpy==2.3.2'] } }),
      await instance(api, { software: { ...software, indexes: [{ url: 'https://packages.example/simple' }] } }),
      await instance(api, { software, hostSetupScript: '#!/bin/sh\n' }),
    ];
    for (const other of others) {
      expect(await other.claim()).toMatchObject({ do: 'build', claim: 1 });
      // Also when it names another instance's build.
      expect((await other.get(build)).status).toBe(404);
      expect(await other.announce(build)).toMatchObject({ state: 'unwanted' });
      expect((await other.put(build)).status).toBe(404);
      expect(await other.progress(build, { claim: 1, state: 'failed' })).toMatchObject({ isWanted: false });
    }
    const same = await instance(api);
    expect(await same.claim({ platform: platform.replace('12', '13') })).toMatchObject({ do: 'build' });
    expect(await same.claim({ hash: 'b'.repeat(64) })).toMatchObject({ do: 'build' });
    // A user's own modules and the credentials of a private index are not part of a shared environment.
    const indexes = [{ url: 'https://packages.example/simple', username: 'ada', password: 'x' }];
    const withPassword = await instance(api, { software: { ...software, indexes } });
    expect(await withPassword.claim()).toMatchObject({ do: 'wait' });
  });

  it('of another workspace is neither found nor changed, though it is the same', async () => {
    const { api } = await open();
    const { build } = await stored(api);
    const foreign = await instance(api, { software }, 'second');
    expect(await foreign.claim()).toMatchObject({ do: 'build', claim: 1, build });
    expect((await foreign.get(build)).status).toBe(404);
    expect((await foreign.put(build, sha256, 'an archive')).status).toBe(204);
    await foreign.progress(build, { claim: 1, state: 'failed' });
    expect(await (await instance(api)).claim()).toMatchObject({ do: 'download', sha256 });
  });

  it('is built by another instance when the builder says nothing any more, and the first archive counts', async () => {
    const { api } = await open();
    const [builder, other, late] = [await instance(api), await instance(api), await instance(api)];
    const { build } = await builder.claim();
    api.clock.offsetMs += buildLeaseMs - 1_000;
    expect(await builder.progress(build, { claim: 1, state: 'building' })).toMatchObject({ isWanted: true });
    api.clock.offsetMs += buildLeaseMs - 1_000;
    expect((await other.claim()).do).toBe('wait');
    api.clock.offsetMs += 1_000;
    expect(await other.claim()).toMatchObject({ do: 'build', claim: 2 });
    expect(await builder.progress(build, { claim: 1, state: 'building' })).toMatchObject({ isWanted: false });
    // It was slow and not dead.
    await builder.announce(build);
    await builder.put(build);
    expect((await builder.announce(build)).state).toBe('stored');
    expect((await late.claim()).do).toBe('download');
    expect((await other.announce(build, { claim: 2, sha256: 'c'.repeat(64) })).state).toBe('unwanted');
    expect((await late.announce(build, { claim: 3 })).state).toBe('unwanted');
  });

  it('that cannot be built is built by each instance for a minute', async () => {
    const { api } = await open();
    const [builder, other] = [await instance(api), await instance(api)];
    const { build } = await builder.claim();
    await builder.progress(build, { claim: 1, state: 'failed' });
    expect(await other.claim()).toEqual({ status: 200, do: 'alone' });
    expect(await builder.claim()).toMatchObject({ do: 'build', claim: 2 });
    await builder.progress(build, { claim: 2, state: 'failed' });
    api.clock.offsetMs += 60_000;
    expect(await other.claim()).toMatchObject({ do: 'build', claim: 3 });
    await other.progress(build, { claim: 3, state: 'too-large' });
    api.clock.offsetMs += 60_000;
    expect(await builder.claim()).toEqual({ status: 200, do: 'alone' });
  });

  it('with a damaged or a missing archive is built anew', async () => {
    const { api, directory } = await open();
    const { build } = await stored(api);
    const place = join(directory, 'environments', 'default', build);
    expect(await readdir(place)).toEqual([sha256]);
    const other = await instance(api);
    expect(await other.claim({ damaged: 'd'.repeat(64) })).toMatchObject({ do: 'download' });
    expect(await other.claim({ damaged: sha256 })).toMatchObject({ do: 'build', claim: 2 });
    expect(await readdir(place)).toEqual([]);
    await other.announce(build, { claim: 2 });
    await other.put(build);
    expect(await other.announce(build, { claim: 2 })).toMatchObject({ state: 'stored' });
    // Truncated on the disk.
    await writeFile(join(place, sha256), 'an arch');
    expect(await (await instance(api)).claim()).toMatchObject({ do: 'build', claim: 3 });
  });

  it('that no instance has used for the days of the setting is deleted, with what builders left', async () => {
    const { api, directory } = await open({ archives: { keptMs: 3 * 86_400_000, maxBytes: 1_000 } });
    const { build } = await stored(api);
    const place = join(directory, 'environments', 'default', build);
    await writeFile(join(place, 'e'.repeat(64)), 'left by a builder');
    api.clock.offsetMs += 2 * 86_400_000;
    expect((await (await instance(api)).claim()).do).toBe('download');
    api.clock.offsetMs += 2 * 86_400_000;
    expect(await removeUnusedArchives(api.deps)).toBe(0);
    api.clock.offsetMs += 86_400_000;
    expect(await removeUnusedArchives(api.deps)).toBe(1);
    expect(await readdir(place).catch(() => [])).toEqual([]);
    expect(await (await instance(api)).claim()).toMatchObject({ do: 'build', claim: 1, maxBytes: 1_000 });
  });

  it('with a name shows its builds, of its workspace alone', async () => {
    const { api } = await open();
    await api.call('PUT', '/v1/environments/science', { body: { software } });
    const details = async (token = api.token) => (await api.call('GET', '/v1/environments/science', { token })).json();
    expect((await details()).builds).toEqual([]);
    const number = await api.startCluster({ workers: 0, softwareName: 'science' });
    const { builder } = await stored(api);
    const { token } = await createDaskInstance(api, number, 0);
    const body = { hash, platform: `${platform}-other`, damaged: null };
    await api.call('POST', '/v1/agent/environment-builds', { token, body });
    expect((await details()).builds).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ state: 'building', platform: `${platform}-other`, cluster: number, archive: null }),
        expect.objectContaining({
          ...{ state: 'stored', platform, hasSetupScript: false, instance: builder.id, user: 'ada' },
          archive: { bytes: 10, unpackedBytes: 30, buildSeconds: 61, storedAt: expect.any(String) },
        }),
      ]),
    );
    const second = await api.addToken('second');
    await api.call('PUT', '/v1/environments/science', { body: { software }, token: second });
    expect((await details(second)).builds).toEqual([]);
  });

  it('says in the events of its cluster who built it, what went wrong, and once that others have it', async () => {
    const { api } = await open();
    const builder = await instance(api);
    const note = (code: string, text: string) => builder.report({ notes: [{ code, text }] });
    expect((await note('ENVIRONMENT_BUILT', 'built the environment in 61 s')).status).toBe(200);
    await note('ENVIRONMENT_BUILT', 'built the environment in 61 s');
    await note('ENVIRONMENT_DOWNLOADED', 'downloaded its environment: 412 MiB in 6 s');
    await note('ENVIRONMENT_DOWNLOADED', 'downloaded its environment: 412 MiB in 7 s');
    for (let index = 0; index < 9; index += 1) await note('ENVIRONMENT_NOT_SHARED', `failed ${index}`);
    expect((await note('SOMETHING', 'else')).status).toBe(422);
    const [cluster] = (await (await api.call('GET', '/v1/clusters')).json()).items;
    const { events } = await (await api.call('GET', `/v1/clusters/${cluster.number}`)).json();
    const texts = (code: string) =>
      events.filter((event: { code: string }) => event.code === code).map((event: { text: string }) => event.text);
    expect(texts('ENVIRONMENT_BUILT')).toEqual([`${builder.id} built the environment in 61 s`]);
    expect(texts('ENVIRONMENT_DOWNLOADED')).toEqual([`${builder.id} downloaded its environment: 412 MiB in 6 s`]);
    expect(texts('ENVIRONMENT_NOT_SHARED')).toHaveLength(5);
  });

  it('without fixed versions is resolved anew after a week', async () => {
    const { api } = await open();
    const { build } = await stored(api);
    const unpinned = { requirements: ['numpy'] };
    const builder = await instance(api, { software: unpinned });
    const claimed = await builder.claim();
    await builder.announce(claimed.build, { isPinned: false });
    await builder.put(claimed.build);
    await builder.announce(claimed.build, { isPinned: false });
    api.clock.offsetMs += 7 * 86_400_000;
    expect(await (await instance(api, { software: unpinned })).claim()).toMatchObject({ do: 'build', claim: 2 });
    expect(await (await instance(api)).claim()).toMatchObject({ do: 'download', build });
  });

  it('is not shared on a host whose instances have a directory in common, nor by a container', async () => {
    const alone = await createTestApi();
    expect(await (await instance(alone)).claim()).toEqual({ status: 200, do: 'alone' });
    const { api } = await open();
    expect(await (await instance(api, { container: 'python:3.12' })).claim()).toEqual({ status: 200, do: 'alone' });
    // The environment has the URL in a file.
    const signed = { requirements: ['x @ https://bucket.example/x.whl?X-Amz-Signature=T0KEN'] };
    expect(await (await instance(api, { software: signed })).claim()).toEqual({ status: 200, do: 'alone' });
  });

  it('that is larger than the setting is not taken', async () => {
    const { api } = await open({ archives: { keptMs: 1, maxBytes: 5 } });
    const builder = await instance(api);
    const { build } = await builder.claim();
    expect(await builder.announce(build)).toMatchObject({ state: 'unwanted' });
    expect((await builder.put(build)).status).toBe(413);
  });

  it.each([
    [{ hash: 'x' }, 'hash'],
    [{ platform: '' }, 'platform'],
    [{ platform: 'line\nbreak' }, 'platform'],
    [{ damaged: '../x' }, 'damaged'],
  ])('asked for with %j is refused by the name of the field', async (wrong, field) => {
    const { api } = await open();
    expect(await (await instance(api)).claim(wrong)).toMatchObject({ status: 422, error: { field } });
  });
});
