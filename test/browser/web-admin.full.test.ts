// The pages of an admin in a real browser: approvals, with an API that restarts between request and decision, and the workspace.
import { describe, expect, it } from 'vitest';

import { cloudApi } from '../api/cloud.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('the pages of an admin', () => {
  let member: string;
  let boss: string;
  const app = useWebApp(async ({ bundle }) => {
    const api = await cloudApi('aws', { web: bundle });
    member = await api.addToken('default', ['read', 'write'], 'bob', 'member');
    boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
    await api.call('PUT', '/v1/workspace/approval', { token: boss, body: { dollarsPerHour: 1 } });
    return api;
  });
  const { complaints, openAs, accessible, listen, close } = app;
  const startBig = (name: string): Promise<number> =>
    app.api.startCluster({ name, workers: 20, workerVmTypes: ['m6i.large'] }, { token: member });

  it('shows what waits; an admin approves one after the API restarted, and rejects another', async () => {
    const first = await startBig('first');
    const second = await startBig('second');
    await openAs(boss, '/approvals');
    const row = (name: string) =>
      app.page.getByRole('row').filter({ has: app.page.getByRole('link', { name, exact: true }) });
    await row('first').getByText('more than the $1.00').waitFor();
    await accessible('approvals');
    await close();
    await row('first').getByRole('button', { name: 'Approve' }).click();
    await row('first').getByRole('button', { name: 'Yes, approve' }).click();
    await row('first').getByText('The API cannot be reached.').waitFor();
    await listen();
    await row('first').getByRole('button', { name: 'Approve' }).click();
    await row('first').getByRole('button', { name: 'Yes, approve' }).click();
    await row('first').getByText('by boss').waitFor();
    await row('second').getByRole('button', { name: 'Reject' }).click();
    await row('second').getByRole('button', { name: 'Yes, reject' }).click();
    await row('second').getByText('rejected').waitFor();
    await app.api.work();
    expect(app.api.workflows.starts).toEqual([`cluster/${first}`]);
    expect((await app.api.store.clusters.find('default', second))?.status).toBe('stopped');
    // From the time when the API was closed.
    expect(complaints.filter((text) => !text.includes('ERR_CONNECTION_REFUSED'))).toEqual([]);
  });

  it('a member sees what waits and why, and no button; the page of the cluster says so', async () => {
    await startBig('mine');
    await openAs(member, '/approvals');
    await app.page.getByText('more than the $1.00').waitFor();
    expect(await app.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await app.page.getByRole('link', { name: 'mine' }).click();
    await app.page.getByText('for an admin to approve it').first().waitFor();
    // Its workflow has not started: only its end can be requested.
    await app.page.getByText('The cluster has not started').waitFor();
    await app.page.getByText('Nothing has happened yet').waitFor();
    expect(await app.page.getByRole('button', { name: 'Scale' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows people, tokens, environments and webhooks of the workspace as texts, and budgets on the page of spend', async () => {
    const put = (path: string, body: object) => app.api.call('PUT', path, { token: boss, body });
    await put('/v1/budgets/ml', { dollars: 500, user: 'bob' });
    await put('/v1/environments/weather', { container: 'ghcr.io/example/weather:1' });
    const webhook = { url: 'https://hooks.example/ours', events: ['budget.*'] };
    await app.api.call('POST', '/v1/webhooks', { token: boss, body: webhook });
    await app.api.call('POST', '/v1/tokens', { token: boss, body: { name: hostile, scopes: ['read'] } });
    await put('/v1/users/bob', { limits: { vcpus: 64 } });
    await openAs(boss, '/');
    await app.page.getByRole('link', { name: 'Workspace' }).click();
    await app.page.getByRole('heading', { name: 'Workspace default' }).waitFor();
    for (const text of ['weather', 'https://hooks.example', 'budget.*', hostile]) {
      await app.page.getByText(text, { exact: true }).first().waitFor();
    }
    await app.page.getByRole('cell', { name: 'member', exact: true }).waitFor();
    await app.page.getByRole('cell', { name: '0 of 64', exact: true }).waitFor();
    await accessible('workspace');
    expect([await app.page.title(), complaints]).toEqual(['Workspace default · Ropewalk', []]);
    await app.page.getByRole('link', { name: 'Spend' }).click();
    await app.page.getByText('user bob', { exact: true }).waitFor();
  });
});
