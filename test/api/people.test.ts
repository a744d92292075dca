// Users over HTTP: tokens that never exceed their maker's rights, users and roles, limits, workspaces.
import { describe, expect, it } from 'vitest';

import { tokenMaxAgeMs } from '../../domain/tokens/limits.ts';
import { createReplica, createTestApi, type CallOptions, type TestApi } from './support.ts';

const allScopes = ['read', 'write', 'admin', 'operator'] as const;

async function createPeople() {
  const api = await createTestApi();
  const admin = await api.addToken('default', [...allScopes], 'root');
  const member = await api.addToken('default', ['read', 'write'], 'mia', 'member');
  const reader = await api.addToken('default', ['read', 'write', 'admin'], 'rob', 'read-only');
  const ask = async (method: string, path: string, options: CallOptions = {}) => {
    const response = await api.call(method, path, options);
    return { status: response.status, body: await response.json() };
  };
  return { api, ask, admin, member, reader };
}

const later = (api: TestApi) => (api.clock.offsetMs += tokenMaxAgeMs + 1);

describe('tokens', () => {
  it('says who one is; a role caps the scopes of a token', async () => {
    const { ask, member, reader } = await createPeople();
    expect((await ask('GET', '/v1/whoami', { token: member })).body).toMatchObject({
      workspace: 'default',
      user: 'mia',
      role: 'member',
      scopes: ['read', 'write'],
    });
    expect((await ask('GET', '/v1/whoami', { token: reader })).body).toMatchObject({ scopes: ['read'] });
    const create = await ask('POST', '/v1/jobs', { token: reader, body: { command: ['true'] } });
    expect(create).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
  });

  it('makes a token that works, shows it once, and keeps only its hash', async () => {
    const { api, ask, member } = await createPeople();
    const made = await ask('POST', '/v1/tokens', { token: member, body: { name: 'ci', scopes: ['read'] } });
    expect(made).toMatchObject({ status: 201, body: { user: 'mia', scopes: ['read'], expiresAt: null } });
    const { token, id } = made.body;
    const secret = token.split('-').slice(1).join('-');
    expect((await ask('GET', '/v1/whoami', { token })).body).toMatchObject({
      user: 'mia',
      tokenId: id,
      scopes: ['read'],
    });
    const listed = await ask('GET', '/v1/tokens', { token: member });
    expect(listed.body.items.map(({ user }: { user: string }) => user)).toEqual(['mia', 'mia']);
    expect(listed.body.items[0]).toMatchObject({ id, name: 'ci', createdBy: 'mia', revokedAt: null });
    const stored = await api.store.people.findToken('default', id);
    const kept = JSON.stringify([listed.body, stored, api.logged]);
    expect(kept).toContain(id);
    expect(kept).not.toContain(secret);
  });

  it('makes a token that every other replica takes at once', async () => {
    const { api, ask, member } = await createPeople();
    const replica = await createReplica(api);
    const whoami = async (token: string) => (await replica.call('GET', '/v1/whoami', { token })).status;
    expect(await whoami(member)).toBe(200);
    const { body } = await ask('POST', '/v1/tokens', { token: member, body: {} });
    expect(await whoami(body.token)).toBe(200);
  });

  it.each([
    ['more than its maker has', 'member', { scopes: ['admin'] }, 403, 'scopes'],
    ['more than the role of its user allows', 'admin', { user: 'rob', scopes: ['write'] }, 403, 'scopes'],
    ['for another user by a member', 'member', { user: 'rob' }, 403, 'user'],
    ['for an unknown user', 'admin', { user: 'ghost' }, 404, 'user'],
    ['with no time to live', 'member', { expires: '0 s' }, 422, 'expires'],
    ['with a scope there is not', 'member', { scopes: ['root'] }, 422, 'scopes.0'],
  ] as const)('makes none %s', async (_what, who, body, status, field) => {
    const people = await createPeople();
    const made = await people.ask('POST', '/v1/tokens', { token: people[who], body });
    expect(made).toMatchObject({ status, body: { error: { field } } });
  });

  it('makes none that outlives its maker, and lets it end by itself', async () => {
    const { api, ask, member } = await createPeople();
    const short = await ask('POST', '/v1/tokens', { token: member, body: { expires: '1 hour' } });
    const token = short.body.token;
    const longer = await ask('POST', '/v1/tokens', { token, body: { expires: '2 hours' } });
    expect(longer).toMatchObject({ status: 403, body: { error: { field: 'expires' } } });
    const child = await ask('POST', '/v1/tokens', { token, body: {} });
    expect(child.body.expiresAt).toBe(short.body.expiresAt);
    api.clock.offsetMs += 3_600_001;
    for (const each of [token, child.body.token])
      expect((await ask('GET', '/v1/whoami', { token: each })).status).toBe(401);
  });

  it('revokes at once in the process that was asked, and within a second in every other', async () => {
    const { api, ask, admin, member } = await createPeople();
    const replica = await createReplica(api);
    const { token, id } = (await ask('POST', '/v1/tokens', { token: member, body: {} })).body;
    expect((await ask('GET', '/v1/whoami', { token })).status).toBe(200);
    expect((await replica.call('GET', '/v1/whoami', { token })).status).toBe(200);
    const eve = await api.addToken('default', ['read'], 'eve', 'member');
    expect((await ask('POST', `/v1/tokens/${id}/revoke`, { token: eve })).status).toBe(404);
    const revoked = await ask('POST', `/v1/tokens/${id}/revoke`, { token: admin });
    expect(revoked.body).toMatchObject({ id, revokedAt: expect.stringMatching(/^\d{4}-/) });
    expect((await ask('GET', '/v1/whoami', { token })).status).toBe(401);
    expect((await ask('POST', `/v1/tokens/${id}/revoke`, { token: admin })).body).toEqual(revoked.body);
    api.clock.offsetMs += 1_000;
    expect((await replica.call('GET', '/v1/whoami', { token })).status).toBe(401);
  });

  it('a revoked token makes no other one while a replica still takes it', async () => {
    const { api, ask, member } = await createPeople();
    expect((await ask('GET', '/v1/whoami', { token: member })).status).toBe(200);
    await api.revoke(member);
    expect((await ask('GET', '/v1/whoami', { token: member })).status).toBe(200);
    expect((await ask('POST', '/v1/tokens', { token: member, body: {} })).status).toBe(401);
  });
});

describe('users', () => {
  it('adds, changes and removes people; their tokens go, their objects stay', async () => {
    const { api, ask, admin } = await createPeople();
    const added = await ask('PUT', '/v1/users/zoe', { token: admin, body: { limits: { instances: 3 } } });
    expect(added).toMatchObject({ status: 200, body: { name: 'zoe', role: 'member', limits: { instances: 3 } } });
    const { token } = (await ask('POST', '/v1/tokens', { token: admin, body: { user: 'zoe' } })).body;
    const number = await api.submit({}, { token });
    expect((await ask('GET', '/v1/users', { token })).body.items.at(-1)).toMatchObject({
      name: 'zoe',
      use: { running: 1 },
    });
    const demoted = await ask('PUT', '/v1/users/zoe', { token: admin, body: { role: 'read-only', limits: null } });
    expect(demoted.body).toMatchObject({ role: 'read-only', limits: {} });
    expect((await ask('POST', '/v1/jobs', { token, body: { command: ['true'] } })).status).toBe(403);
    expect((await ask('DELETE', '/v1/users/zoe', { token: admin })).status).toBe(200);
    expect((await ask('GET', '/v1/whoami', { token })).status).toBe(401);
    expect((await ask('GET', `/v1/jobs/${number}`, { token: admin })).body).toMatchObject({ user: 'zoe' });
    await ask('PUT', '/v1/users/zoe', { token: admin, body: {} });
    later(api);
    expect((await ask('GET', '/v1/whoami', { token })).status).toBe(401);
  });

  it('keeps the last admin, and lets only admins change people', async () => {
    const { api, ask, admin, member, reader } = await createPeople();
    await api.store.people.removeUser('default', { name: 'ada', by: null }, api.now());
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', { role: 'member' }],
    ] as const) {
      const refused = await ask(method, '/v1/users/root', { token: admin, body });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    }
    for (const token of [member, reader]) {
      expect((await ask('PUT', '/v1/users/mia', { token, body: { role: 'admin' } })).status).toBe(403);
      expect((await ask('DELETE', '/v1/users/root', { token })).status).toBe(403);
      expect((await ask('PUT', '/v1/workspace/limits', { token, body: { running: 1 } })).status).toBe(403);
    }
  });
});

describe('limits', () => {
  it("holds a user's limits beside the workspace's, and says whose they are", async () => {
    const { api, ask, admin, member } = await createPeople();
    const set = await ask('PUT', '/v1/workspace/limits', {
      token: admin,
      body: { running: 3, perUser: { running: 1 } },
    });
    expect(set.body).toMatchObject({ limits: { running: 3, vcpus: 10_000 }, perUser: { running: 1 } });
    await api.submit({}, { token: member });
    const over = await ask('POST', '/v1/jobs', { token: member, body: { command: ['true'] } });
    expect(over).toMatchObject({
      status: 429,
      body: { error: { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('mia') } },
    });
    await ask('PUT', '/v1/users/mia', { token: admin, body: { limits: { running: 9 } } });
    for (let n = 0; n < 2; n += 1) await api.submit({}, { token: member });
    const full = await ask('POST', '/v1/jobs', { token: member, body: { command: ['true'] } });
    expect(full.body.error.message).toContain('the workspace');
    const info = (await ask('GET', '/v1/workspace', { token: admin })).body;
    expect(info).toMatchObject({ slug: 'default', use: { running: 3 } });
    expect(info.users).toContainEqual(
      expect.objectContaining({ name: 'mia', use: expect.objectContaining({ running: 3 }) }),
    );
    expect(info.events).toContainEqual(expect.objectContaining({ code: 'LIMITS', by: 'root' }));
    expect((await ask('GET', '/v1/workspace', { token: member })).body.events).toEqual([]);
  });
});

describe('workspaces', () => {
  it('are made and listed by an operator alone, each with an admin who knows nothing of the others', async () => {
    const { ask, admin, member } = await createPeople();
    const made = await ask('POST', '/v1/workspaces', { token: admin, body: { slug: 'lab', admin: 'lena' } });
    expect(made).toMatchObject({
      status: 201,
      body: { slug: 'lab', admin: { user: 'lena', scopes: ['read', 'write', 'admin'] } },
    });
    const { token } = made.body.admin;
    expect((await ask('GET', '/v1/whoami', { token })).body).toMatchObject({ workspace: 'lab', role: 'admin' });
    expect((await ask('GET', '/v1/users', { token })).body.items).toHaveLength(1);
    const again = await ask('POST', '/v1/workspaces', { token: admin, body: { slug: 'lab', admin: 'mallory' } });
    expect(again).toMatchObject({ status: 409, body: { error: { field: 'slug' } } });
    expect((await ask('GET', '/v1/workspaces', { token: admin })).body.items).toMatchObject([
      { slug: 'default' },
      { slug: 'lab' },
    ]);
    for (const outsider of [token, member]) {
      expect((await ask('GET', '/v1/workspaces', { token: outsider })).status).toBe(403);
      expect((await ask('POST', '/v1/workspaces', { token: outsider, body: { slug: 'x', admin: 'y' } })).status).toBe(
        403,
      );
    }
    expect((await ask('POST', '/v1/tokens', { token, body: { scopes: ['operator'] } })).status).toBe(403);
  });
});
