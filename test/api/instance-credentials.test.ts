// Whether tasks can use the role of their instance: by request, by the header of a script, by the workspace's default. The agent
// receives the setting when it registers.
import { expect, it } from 'vitest';

import { cloudApi } from './cloud.ts';
import { launch, type TestApi } from './support.ts';

async function isAllowed(api: TestApi, path: '/v1/clusters' | '/v1/jobs', body: object): Promise<boolean> {
  const created = await (await api.call('POST', path, { body })).json();
  const instance = 'i_head0000';
  launch(api, created.number, instance);
  const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: created.number, seq: 1 });
  const register = { instance, bootId: 'boot-0000000000000000', address: '127.0.0.1', version: '0.1.0', pid: 42 };
  return (await (await api.call('POST', '/v1/agent/register', { token, body: register })).json()).instanceCredentials;
}

const job = { command: ['true'] };
const script = (line: string) => ({
  command: ['run.sh'],
  files: [{ path: 'run.sh', content: Buffer.from(`#!/bin/sh\n# COILED ${line}\n`).toString('base64') }],
});

it('tasks use the role of their instance only where the request or the header of the script says so', async () => {
  const api = await cloudApi();
  expect(await isAllowed(api, '/v1/jobs', job)).toBe(false);
  expect(await isAllowed(api, '/v1/jobs', { ...job, instanceCredentials: true })).toBe(true);
  expect(await isAllowed(api, '/v1/jobs', script('instance-credentials'))).toBe(true);
  expect(await isAllowed(api, '/v1/clusters', { workers: 1 })).toBe(false);
  expect(await isAllowed(api, '/v1/clusters', { workers: 1, instanceCredentials: true })).toBe(true);
});

it("the workspace's default is for those that say nothing", async () => {
  const api = await cloudApi();
  const token = await api.addToken('default', ['read', 'write', 'admin'], 'root');
  const set = await api.call('PUT', '/v1/workspace/defaults', { body: { instanceCredentials: true }, token });
  expect(set.status).toBe(200);
  expect(await isAllowed(api, '/v1/clusters', { workers: 1 })).toBe(true);
  expect(await isAllowed(api, '/v1/jobs', job)).toBe(true);
  expect(await isAllowed(api, '/v1/jobs', { ...job, instanceCredentials: false })).toBe(false);
});
