// The runtime of tasks and Dask processes, by the request and the script's header.
import { expect, it } from 'vitest';

import type { CreateJob } from '../../schema/jobs.ts';
import { createTestApi, type TestApi } from './support.ts';

const script = (header: string) => ({
  path: 'run.sh',
  content: Buffer.from(`#!/bin/bash\n${header}\n`).toString('base64'),
});
const body = (header: string, more: Partial<CreateJob> = {}): CreateJob => ({
  command: ['run.sh'],
  files: [script(header)],
  ...more,
});
const auth = Buffer.from('ada:hunter2').toString('base64');

/** From the bundle that the request seals. */
async function sealedRuntime(api: TestApi, sent: CreateJob): Promise<unknown> {
  const before = new Set(api.objects.keys());
  expect((await api.call('POST', '/v1/jobs', { body: sent })).status).toBe(201);
  const key = api.objects.keys().find((each) => each.startsWith('vault/') && !before.has(each)) ?? '';
  return JSON.parse(Buffer.from((await api.vault.open(key)) ?? []).toString()).runtime;
}

it('a container comes from a field, an option by name, or the header; credentials lie sealed', async () => {
  const api = await createTestApi();
  const runtimeOf = (sent: CreateJob) => sealedRuntime(api, sent);
  const plain = { kind: 'container', ignoreEntrypoint: false, registryAuth: {} };
  const image = '# COILED container ubuntu:latest';
  expect(await runtimeOf(body(image))).toEqual({ ...plain, image: 'ubuntu:latest' });
  expect(await runtimeOf(body(image, { container: 'debian' }))).toEqual({ ...plain, image: 'debian' });
  expect(
    await runtimeOf(body('', { options: { container: 'debian', 'ignore-container-entrypoint': 'True' } })),
  ).toEqual({
    ...plain,
    image: 'debian',
    ignoreEntrypoint: true,
  });
  const registryAuth = { 'ghcr.io': { auth } };
  expect(await runtimeOf(body('', { container: 'ghcr.io/me/x:1', registryAuth }))).toMatchObject({ registryAuth });
  expect(api.logged.join()).not.toContain(auth);
  expect(await runtimeOf(body(`${image}\n# COILED run-on-host true`))).toEqual({ kind: 'host' });
  expect(await runtimeOf(body(image, { runOnHost: true }))).toEqual({ kind: 'host' });
});

it('a header that names a container wins over the environment that a client sends by itself, with a warning', async () => {
  const api = await createTestApi();
  const sent = body('# COILED container ubuntu', { software: { requirements: ['pandas'] } });
  const answer = await api.call('POST', '/v1/jobs', { body: sent });
  expect((await answer.json()).warnings).toEqual([
    'The script names the container ubuntu: tasks run in it, without the Python environment that was sent.',
  ]);
});

it.each([
  ['jobs', body('', { container: 'ubuntu', software: {} }), 'container'],
  ['jobs', body('', { options: { container: 'ubuntu' }, software: {} }), 'container'],
  ['jobs', body('', { container: 'ubuntu', runOnHost: true }), 'runOnHost'],
  ['jobs', body('', { container: '--privileged' }), 'container'],
  ['jobs', body('# COILED container --privileged'), 'options.container'],
  ['jobs', body('', { options: { 'run-on-host': 'perhaps' } }), 'options.run-on-host'],
  ['jobs', body('', { container: 'x', registryAuth: { 'ghcr.io': { auth: 'ü' } } }), 'registryAuth.ghcr.io.auth'],
  ['clusters', { container: 'daskdev/dask', software: {} }, 'container'],
])('%s: two runtimes at once, or what no engine could take, is refused: %j', async (what, sent, field) => {
  const api = await createTestApi();
  const answer = await api.call('POST', `/v1/${what}`, { body: sent });
  expect([answer.status, (await answer.json()).error?.field]).toEqual([422, field]);
});
