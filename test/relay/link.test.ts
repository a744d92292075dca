// POST /v1/clusters/{n}/dashboard-link and jupyter-link: the users who get a link, and its contents.
import { describe, expect, it } from 'vitest';

import { createTestApi, type TestApi } from '../api/support.ts';

const link = async (api: TestApi, number: number, token: string | null = api.token, site = 'dashboard') => {
  const response = await api.call('POST', `/v1/clusters/${number}/${site}-link`, { token });
  return { status: response.status, body: await response.json() };
};

describe('a link to the dashboard', () => {
  it('is for one cluster and one user, also one with the scope read alone', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const reader = await api.addToken('default', ['read'], 'bob');
    const { status, body } = await link(api, number, reader);
    expect(status).toBe(200);
    const url = new URL(body.url);
    expect(`${url.origin}${url.pathname}`).toBe(`http://127.0.0.1:7778/clusters/${number}/dashboard/`);
    const token = url.searchParams.get('link') ?? '';
    // Bound to the requesting token, and ends with it.
    const tokenId = reader.split('_')[2]?.split('-')[0] ?? '';
    const claims = { workspace: 'default', cluster: number, user: 'bob', tokenId };
    expect(await api.tokens.verifyDashboard(token)).toEqual(claims);
    expect(Math.abs(Date.parse(body.expiresAt) - Date.now() - 300_000)).toBeLessThan(60_000);
    expect(api.logged.join('\n')).not.toContain(token);
  });

  it('is for the creator alone when the cluster is private', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ privateToCreator: true });
    const bob = await api.addToken('default', ['read', 'write', 'admin'], 'bob');
    expect(await link(api, number, bob)).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect((await link(api, number)).status).toBe(200);
  });

  it('is refused without a token, for other workspaces, for jobs, and for ended clusters', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const job = await api.submit({});
    expect((await link(api, number, null)).status).toBe(401);
    expect((await link(api, number, await api.addToken('other'))).status).toBe(404);
    expect((await link(api, 999)).status).toBe(404);
    expect(await link(api, job)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    const state = api.workflows.clusters.get(number);
    Object.assign(state ?? {}, { endedAtMs: api.now() });
    api.clock.offsetMs += 2_000;
    expect(await link(api, number)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  });
});

describe('a link to Jupyter', () => {
  const jupyter = (api: TestApi, number: number, token?: string) => link(api, number, token, 'jupyter');
  const forbidden = { status: 403, body: { error: { code: 'FORBIDDEN' } } };

  it('is for users who can run code on the cluster: the scope read is not enough', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ jupyter: true });
    expect(await jupyter(api, number, await api.addToken('default', ['read'], 'bob'))).toMatchObject(forbidden);
    const state = api.workflows.clusters.get(number);
    expect(await jupyter(api, number)).toMatchObject({ body: { error: { code: 'NOT_YET' } } });
    Object.assign(state?.dask ?? {}, { schedulerAddress: 'tls://127.0.0.1:1' });
    api.clock.offsetMs += 2_000;
    const writer = await api.addToken('default', ['read', 'write'], 'eve');
    const { body } = await jupyter(api, number, writer);
    const url = new URL(body.url);
    expect(`${url.origin}${url.pathname}`).toBe(`http://127.0.0.1:7778/clusters/${number}/jupyter/`);
    const token = url.searchParams.get('link') ?? '';
    expect(await api.tokens.verifyDashboard(token, 'jupyter')).toMatchObject({ cluster: number, user: 'eve' });
    await expect(api.tokens.verifyDashboard(token)).rejects.toMatchObject({ problem: { code: 'UNAUTHENTICATED' } });
    expect(api.logged.join('\n')).not.toContain(token);
  });

  it('is for the creator alone when the cluster is private, and for clusters that have it', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ privateToCreator: true, jupyter: true });
    const admin = await api.addToken('default', ['read', 'write', 'admin'], 'bob');
    expect(await jupyter(api, number, admin)).toMatchObject(forbidden);
    const plain = await api.startCluster();
    expect(await jupyter(api, plain)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  });
});
