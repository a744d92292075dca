// An API that is started while Temporal is away: it knows tokens from what an earlier one has kept, for reading and ending
// only, and whatever Temporal says counts as soon as it says anything.
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { createKeptWorkspaces } from '../../services/kept-workspaces.ts';
import { keptWorkspaceMaxAgeMs } from '../../domain/limits.ts';
import { archiveKey, keptWorkspaceKey } from '../../platform/archive-keys.ts';
import { createVault } from '../../platform/vault/vault.ts';
import { testKeys } from '../platform/support.ts';
import { createTestApi, endJob, json, type TestApi } from './support.ts';

const logger = pino({ level: 'silent' });

/** Shares Temporal, the object store and the keys with the API, as another process would. */
const startApi = (before?: TestApi): TestApi => {
  const first = before ?? createTestApi();
  const shared = { workflows: first.workflows.port, objects: first.objects, vault: first.vault, now: first.now };
  const kept = createKeptWorkspaces({ vault: first.vault, logger });
  const next = createTestApi({ ...shared, tokens: first.tokens, kept });
  const call: TestApi['call'] = (method, path, options) => next.call(method, path, { token: first.token, ...options });
  return { ...first, call };
};

describe('an API that is started while Temporal is away', () => {
  it('reads what is over, stops what is open, and makes nothing', async () => {
    const api = startApi();
    const over = await api.submit({});
    const open = await api.submit({});
    const view = endJob(api, over);
    await api.objects.put(archiveKey('default', 'jobs', over), json(view));
    api.workflows.end(`job/${over}`, { result: view });
    api.clock.offsetMs += 60_000;
    expect((await api.call('GET', '/v1/whoami')).status).toBe(200);

    api.workflows.control.isAway = true;
    const restarted = startApi(api);
    expect((await restarted.call('GET', '/v1/whoami')).status).toBe(200);
    const workspace = await (await restarted.call('GET', '/v1/workspace')).json();
    expect(workspace).toMatchObject({ slug: 'default', staleSince: expect.any(String) });
    expect((await restarted.call('GET', `/v1/jobs/${over}`)).status).toBe(200);
    const cancelled = await restarted.call('POST', `/v1/jobs/${open}/cancel`);
    expect(cancelled.status).toBe(202);
    expect(await cancelled.json()).toMatchObject({ number: open, acceptedForLater: true });
    // Nobody knows how the open one fares.
    expect((await restarted.call('GET', `/v1/jobs/${open}`)).status).toBe(503);
    expect((await restarted.call('POST', '/v1/jobs', { body: { command: ['true'] } })).status).toBe(503);
    expect((await restarted.call('POST', '/v1/tokens', { body: { name: 'x' } })).status).toBe(503);
    expect((await restarted.call('GET', '/v1/whoami', { token: `${api.token.slice(0, -2)}AA` })).status).toBe(401);
  });

  it('knows no token that had been revoked, nor the tokens of a user who had been removed', async () => {
    const api = startApi();
    const root = api.addToken('default', ['read', 'write', 'admin'], 'root');
    const mia = api.addToken('default', ['read', 'write'], 'mia', 'member');
    api.clock.offsetMs += 5_000;
    for (const token of [root, mia, api.token]) {
      expect((await api.call('GET', '/v1/whoami', { token })).status).toBe(200);
    }
    const id = /_(tok\d{9})-/.exec(api.token)?.[1] ?? '';
    expect((await api.call('POST', `/v1/tokens/${id}/revoke`, { token: root })).status).toBe(200);
    expect((await api.call('DELETE', '/v1/users/mia', { token: root })).status).toBe(200);
    // At that very moment.
    api.workflows.control.isAway = true;
    const restarted = startApi(api);
    expect((await restarted.call('GET', '/v1/whoami', { token: root })).status).toBe(200);
    for (const token of [api.token, mia]) {
      expect((await restarted.call('GET', '/v1/whoami', { token })).status).toBe(401);
    }
  });

  it('forgets what it was told as soon as Temporal says otherwise', async () => {
    const api = startApi();
    await api.call('GET', '/v1/whoami');
    api.workflows.control.isAway = true;
    const restarted = startApi(api);
    expect((await restarted.call('GET', '/v1/whoami')).status).toBe(200);
    const [token] = api.workflows.workspaces.get('default')?.tokens ?? [];
    if (token === undefined) throw new Error('no token');
    token.revokedAtMs = api.now();
    api.workflows.control.isAway = false;
    expect((await restarted.call('GET', '/v1/whoami')).status).toBe(401);
  });

  it('goes by nothing that is a day old, was written without the keys, or is of another workspace', async () => {
    const api = startApi();
    await api.call('GET', '/v1/whoami');
    api.workflows.control.isAway = true;
    const key = keptWorkspaceKey('default');
    const kept = await api.objects.get(key);
    if (kept === null) throw new Error('nothing was kept');
    expect(Buffer.from(kept).toString()).not.toMatch(/sha256|ada/);

    await api.objects.put(keptWorkspaceKey('other'), kept);
    const other = api.token.replace('_default_', '_other_');
    expect((await startApi(api).call('GET', '/v1/whoami', { token: other })).status).toBe(503);

    const forged = createVault(api.objects, testKeys({ seed: 9 }), api.now);
    const view = { ...api.workflows.workspaces.get('default') };
    await forged.seal(key, json({ v: 1, view, readAtMs: api.now() }), { ttlMs: 60_000 });
    expect((await startApi(api).call('GET', '/v1/whoami')).status).toBe(503);

    await api.objects.put(key, kept);
    expect((await startApi(api).call('GET', '/v1/whoami')).status).toBe(200);
    api.clock.offsetMs += keptWorkspaceMaxAgeMs;
    expect((await startApi(api).call('GET', '/v1/whoami')).status).toBe(503);
  });

  it('keeps who may what at once, and the rest now and then', async () => {
    const api = startApi();
    const key = keptWorkspaceKey('default');
    const read = async () => Buffer.from((await api.objects.get(key)) ?? []).toString();
    await api.call('GET', '/v1/workspace');
    const first = await read();
    api.clock.offsetMs += 3_000;
    await api.submit({});
    await api.call('GET', '/v1/workspace');
    expect(await read()).toBe(first);
    api.clock.offsetMs += 10_000;
    await api.call('GET', '/v1/workspace');
    const second = await read();
    expect(second).not.toBe(first);
    api.clock.offsetMs += 3_000;
    api.addToken('default', ['read'], 'zoe', 'read-only');
    await api.call('GET', '/v1/workspace');
    expect(await read()).not.toBe(second);
  });
});
