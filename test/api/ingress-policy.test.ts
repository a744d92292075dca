// Ports that the operator keeps closed: refused for jobs, clusters, their plans and schedules, and the defaults of a workspace.
import { expect, it } from 'vitest';

import { cloudApi } from './cloud.ts';

const types = { vmTypes: ['m6i.large'] };
const requests: [path: string, body: object][] = [
  ['/v1/jobs', { command: ['true'], ...types }],
  ['/v1/plans/jobs', { command: ['true'], ...types }],
  ['/v1/clusters', { workers: 1 }],
  ['/v1/plans/clusters', { workers: 1 }],
];

it('refuses what the setting does not allow with its name, and takes the rest', async () => {
  const api = await cloudApi('aws', { ingressPolicy: 'limited' });
  const post = async (path: string, body: object) => {
    const response = await api.call('POST', path, { body });
    return { status: response.status, ...(await response.json()) };
  };
  for (const [path, body] of requests) {
    expect([path, await post(path, { ...body, allowSsh: true })]).toMatchObject([
      path,
      {
        status: 403,
        error: { code: 'FORBIDDEN', field: 'allowSsh', message: expect.stringContaining('ROPEWALK_INGRESS') },
      },
    ]);
    if (path.includes('clusters')) {
      expect(await post(path, { ...body, openPorts: { 80: 'everyone' } })).toMatchObject({ status: 403 });
    }
    const allowed = await post(path, { ...body, allowSshFrom: '198.51.100.0/24' });
    expect([path, allowed.status]).toEqual([path, path.includes('plans') ? 200 : 201]);
  }
  const scheduled = { name: 'nightly', cron: '0 3 * * *', job: { ...requests[0]?.[1], allowSsh: true } };
  expect(await post('/v1/schedules', scheduled)).toMatchObject({ status: 403 });
  const { warnings } = await post('/v1/plans/jobs', { ...requests[0]?.[1], allowSshFrom: '198.51.100.0/24' });
  expect(warnings).toContain('The head instance opens port 22 to 198.51.100.0/24.');
});

it('no default of a workspace widens it, also one from before the setting', async () => {
  const before = await cloudApi();
  const put = (api: typeof before, token: string) =>
    api.call('PUT', '/v1/workspace/defaults', { token, body: { allowIngressFrom: 'everyone' } });
  expect((await put(before, await before.addToken('default', ['read', 'write', 'admin']))).status).toBe(200);
  const api = await cloudApi('aws', { ingressPolicy: ['10.0.0.0/8'] });
  const admin = await api.addToken('default', ['read', 'write', 'admin']);
  expect((await put(api, admin)).status).toBe(403);
  const defaults = { allowIngressFrom: 'everyone' };
  await api.store.workspaces.setDefaults('default', { defaults, by: null }, api.now());
  for (const [path, body] of requests.filter(([path]) => path.includes('clusters'))) {
    const refused = await api.call('POST', path, { body });
    expect([path, refused.status]).toEqual([path, 403]);
    const narrow = await api.call('POST', path, { body: { ...body, allowIngressFrom: '10.1.0.0/16' } });
    expect([path, narrow.status]).toEqual([path, path.includes('plans') ? 200 : 201]);
  }
});
