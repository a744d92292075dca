// Objects that are private to their creator, and work that continues after its token is deleted.
import { describe, expect, it, vi } from 'vitest';

import { accessCheckEveryMs, revocationEffectiveWithinMs, tokenMaxAgeMs } from '../../domain/tokens/limits.ts';
import type { LogQuery } from '../../providers/provider.ts';
import { aClusterView } from '../store/fixtures.ts';
import { createTestApi } from './support.ts';

describe('private to its creator', () => {
  it.each(['jobs', 'clusters'] as const)(
    '%s: others see its status, an admin may end it, only its creator reads its logs',
    async (kind) => {
      const api = await createTestApi();
      const mia = await api.addToken('default', ['read', 'write'], 'mia', 'member');
      const zoe = await api.addToken('default', ['read', 'write'], 'zoe', 'member');
      const admin = await api.addToken('default', ['read', 'write', 'admin'], 'root');
      const body = { privateToCreator: true };
      const number = await (kind === 'jobs' ? api.submit : api.startCluster)(body, { token: mia });
      const status = async (method: string, what: string, token: string, sent?: object) =>
        (
          await api.call(method, `/v1/${kind}/${number}${what}`, {
            token,
            ...(sent === undefined ? {} : { body: sent }),
          })
        ).status;
      const end = kind === 'jobs' ? '/cancel' : '/stop';
      for (const other of [zoe, admin]) {
        expect(await status('GET', '', other)).toBe(200);
        expect(await status('GET', '/logs', other)).toBe(403);
        expect((await api.call('GET', `/v1/clusters/${number}/logs`, { token: other })).status).toBe(403);
        if (kind === 'jobs') continue;
        expect(await status('GET', '/credentials', other)).toBe(403);
        expect(await status('POST', '/dashboard-link', other)).toBe(403);
        expect(await status('POST', '/scale', other, { workers: 1 })).toBe(403);
        expect(await status('POST', '/adapt', other, {})).toBe(403);
      }
      expect(await status('GET', '/logs', mia)).toBe(200);
      expect(await status('POST', end, zoe)).toBe(403);
      expect(await status('POST', end, admin)).toBe(202);
    },
  );

  it('belongs to the user, not to the name: one who is removed and added again does not inherit it', async () => {
    const api = await createTestApi();
    const before = await api.addToken('default', ['read', 'write'], 'mia', 'member');
    const headers = { 'idempotency-key': 'once' };
    const sent = { privateToCreator: true, command: ['launch-codes'] };
    const job = await api.submit(sent, { token: before, headers });
    const cluster = await api.startCluster({ privateToCreator: true }, { token: before });
    await api.store.people.removeUser('default', { name: 'mia', by: null }, api.now());
    const after = await api.addToken('default', ['read', 'write'], 'mia', 'member');
    const status = async (path: string, method = 'GET') =>
      (await api.call(method, `/v1/${path}`, { token: after })).status;
    for (const path of [
      `jobs/${job}/logs`,
      `jobs/${job}/tasks`,
      `clusters/${job}/logs`,
      `clusters/${cluster}/events`,
    ]) {
      expect(await status(path)).toBe(403);
    }
    expect(await status(`clusters/${cluster}/credentials`)).toBe(403);
    expect(await status(`jobs/${job}/cancel`, 'POST')).toBe(403);
    for (const kind of ['jobs', 'clusters']) {
      const page = await (await api.call('GET', `/v1/${kind}`, { token: after })).text();
      expect(page).toContain('"withheld":true');
      expect(page).not.toContain('launch-codes');
    }
    // Nor does a request with the earlier user's key find that user's objects.
    const found = await (await api.call('GET', '/v1/jobs?q=launch-codes', { token: after })).json();
    expect(found.items).toEqual([]);
    const own = await api.submit(sent, { token: after, headers });
    expect(own).not.toBe(job);
    expect(await status(`jobs/${own}/logs`)).toBe(200);
  });

  it('is not private from an admin who makes a token of the creator, which the events of the workspace name', async () => {
    const api = await createTestApi();
    const mia = await api.addToken('default', ['read', 'write'], 'mia', 'member');
    const admin = await api.addToken('default', ['read', 'write', 'admin'], 'root');
    const number = await api.submit({ privateToCreator: true }, { token: mia });
    const made = await api.call('POST', '/v1/tokens', { token: admin, body: { user: 'mia', name: 'support' } });
    const { token, id } = await made.json();
    expect((await api.call('GET', `/v1/jobs/${number}/logs`, { token })).status).toBe(200);
    const { events } = await (await api.call('GET', '/v1/workspace', { token: admin })).json();
    expect(events.at(-1)).toMatchObject({ code: 'TOKEN_CREATED', by: 'root', text: expect.stringContaining(id) });
    const { items } = await (await api.call('GET', '/v1/tokens', { token: mia })).json();
    expect(items).toContainEqual(expect.objectContaining({ id, createdBy: 'root' }));
  });

  it('counts in the sums of costs by tag, but shows its tags to its creator alone', async () => {
    const api = await createTestApi();
    const mia = await api.addToken('default', ['read', 'write'], 'mia', 'member');
    const rob = await api.addToken('default', ['read'], 'rob', 'read-only');
    const spend = async (privateToCreator: boolean, tag: string): Promise<void> => {
      const number = await api.startCluster({ privateToCreator }, { token: mia });
      const price = { microsPerHour: 1_000_000, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'list price' };
      const machine = { instance: 'i_1', role: 'worker', type: 'm7i.large', zone: 'a', market: 'on-demand' } as const;
      const costs = [{ ...machine, ...price, fromMs: api.now() - 3_600_000, toMs: null, tags: { project: tag } }];
      const view = { ...aClusterView('default', number), user: 'mia', costs };
      await api.store.clusters.project({ view, version: 1, nowMs: api.now() });
    };
    await spend(true, 'secret');
    await spend(false, 'open');
    const keys = async (token: string): Promise<string[]> => {
      const { items, total } = await (await api.call('GET', '/v1/costs?by=tag', { token })).json();
      expect(total.instances).toBe(2);
      return items.map(({ key }: { key: string }) => key).toSorted();
    };
    expect(await keys(rob)).toEqual(['', 'project=open']);
    expect(await keys(mia)).toEqual(['project=open', 'project=secret']);
  });

  it('is not the default: a member may end what another user has started', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    const zoe = await api.addToken('default', ['read', 'write'], 'zoe', 'member');
    expect((await api.call('POST', `/v1/jobs/${number}/cancel`, { token: zoe })).status).toBe(202);
    const { reason } = await (await api.call('GET', `/v1/jobs/${number}`)).json();
    expect(reason.text).toContain('zoe');
  });
});

describe('revocation', () => {
  it('is felt by an open stream within its bound, and the stream does not look complete', async () => {
    expect(accessCheckEveryMs + tokenMaxAgeMs).toBeLessThan(revocationEffectiveWithinMs);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const api = await createTestApi();
      const number = await api.submit({});
      api.logs.read = async function* ({ signal }: LogQuery) {
        yield { atMs: 1, instance: 'i_a', task: 0, attempt: 1, stream: 'stdout', text: 'hello' };
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      };
      const response = await api.call('GET', `/v1/jobs/${number}/logs?follow=true`);
      const reader = response.body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('hello');
      await api.revoke(api.token);
      api.clock.offsetMs += tokenMaxAgeMs + 1;
      const rest = reader?.read().then(({ value }) => new TextDecoder().decode(value));
      await vi.advanceTimersByTimeAsync(accessCheckEveryMs);
      expect(await rest).toContain('UNAUTHENTICATED');
      await expect(reader?.read()).rejects.toThrow('no longer good');
    } finally {
      vi.useRealTimers();
    }
  });
});
