// Defaults of a workspace: an admin sets them, clusters and jobs without the option get them, and wrong ones are refused.
import { describe, expect, it } from 'vitest';

import type { PutDefaults } from '../../sdk/client.ts';
import { cloudApi, zones } from './cloud.ts';
import { createTestApi, type TestApi } from './support.ts';

/** An admin of a workspace with a cloud. */
async function withAdmin() {
  const api = await cloudApi();
  return { api, admin: await api.addToken('default', ['read', 'write', 'admin'], 'root') };
}

const put = async (api: TestApi, token: string, body: PutDefaults) => {
  const reply = await api.call('PUT', '/v1/workspace/defaults', { body, token });
  return { status: reply.status, body: await reply.json() };
};

const planned = async (api: TestApi, kind: 'clusters' | 'jobs', body: object = {}) => {
  const job = { command: ['true'], ...body };
  const reply = await api.call('POST', `/v1/plans/${kind}`, { body: kind === 'jobs' ? job : body });
  return { status: reply.status, body: await reply.json() };
};

describe('defaults of a workspace', () => {
  it('are for clusters and jobs that do not say otherwise, until they are replaced', async () => {
    const { api, admin } = await withAdmin();
    const [first = '', second = ''] = zones;
    const set = await put(api, admin, { zone: second, spotPolicy: 'spot' });
    expect(set).toMatchObject({ status: 200, body: { defaults: { zone: second, spotPolicy: 'spot' } } });
    for (const kind of ['clusters', 'jobs'] as const) {
      const { body } = await planned(api, kind);
      expect(body).toMatchObject({ zones: [second], workers: { markets: ['spot'] } });
      const other = await planned(api, kind, { zone: first, spotPolicy: 'on-demand' });
      expect(other.body).toMatchObject({ zones: [first], workers: { markets: ['on-demand'] } });
    }
    const header = Buffer.from(`# ROPEWALK zone ${first}\n`).toString('base64');
    const job = { command: ['a.sh'], files: [{ path: 'a.sh', content: header }] };
    expect((await planned(api, 'jobs', job)).body.zones).toEqual([first]);
    await put(api, admin, {});
    expect((await planned(api, 'clusters')).body).toMatchObject({ zones, workers: { markets: ['on-demand'] } });
    const { events } = (await (await api.call('GET', '/v1/workspace', { token: admin })).json()) as {
      events: { code: string }[];
    };
    expect(events.filter(({ code }) => code === 'DEFAULTS')).toHaveLength(2);
  });

  it.each([
    [{ region: 'eu-west-9' }, 'region'],
    [{ zone: 'us-east-1z' }, 'zone'],
    [{ allowSshFrom: 'nowhere' }, 'allowSshFrom'],
    [{ provider: 'nimbus' }, 'provider'],
  ])('%j is refused before it is kept', async (defaults, field) => {
    const { api, admin } = await withAdmin();
    expect(await put(api, admin, defaults)).toMatchObject({
      status: 422,
      body: { error: { code: 'VALIDATION', field } },
    });
    expect((await (await api.call('GET', '/v1/workspace')).json()).defaults).toEqual({});
  });

  it("are an admin's to set, and of no effect for another provider", async () => {
    const { api, admin } = await withAdmin();
    const member = await api.addToken('default', ['read', 'write'], 'mia', 'member');
    expect((await put(api, member, {})).status).toBe(403);
    await put(api, admin, { zone: zones[1] });
    expect(await planned(api, 'clusters', { provider: 'local' })).toMatchObject({
      status: 200,
      body: { provider: 'local', warnings: [] },
    });
    expect((await planned(await createTestApi(), 'clusters')).body.warnings).toEqual([]);
  });
});
