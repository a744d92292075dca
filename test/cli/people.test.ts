import { describe, expect, it } from 'vitest';

import type { Token, User, WorkspaceInfo } from '../../sdk/client.ts';
import { aCreatedToken, aWhoami, anError } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const { token: fresh } = aCreatedToken;
const me = aWhoami;
const created = aCreatedToken;
const aToken = (change: Partial<Token> = {}): Token => ({
  id: 'abcdefghijkl',
  name: 'laptop',
  user: 'ada',
  scopes: ['read', 'write'],
  createdAt: '2024-11-18T17:25:08.000Z',
  createdBy: 'ada',
  expiresAt: null,
  revokedAt: null,
  ...change,
});
const ada: User = {
  name: 'ada',
  role: 'admin',
  limits: { vcpus: 8 },
  use: { running: 1, instances: 4, vcpus: 4 },
  createdAt: '2024-11-18T17:25:08.000Z',
};

describe('whoami and tokens', () => {
  it('print the user and the scopes', async () => {
    const { env } = await standIn(() => ({ json: me }));
    expect(await callCli(['whoami'], { env })).toEqual({
      code: 0,
      stdout: 'ada (workspace default): admin; token abcdefghijkl with the scopes read, write, admin\n',
      stderr: '',
    });
    expect(JSON.parse((await callCli(['whoami', '--format', 'json'], { env })).stdout)).toEqual(me);
  });

  it('are created and printed alone on stdout, and never created twice by a repeated request', async () => {
    const { api, env } = await standIn((_, nth) =>
      nth < 3 ? { status: 201, json: created } : anError(503, { code: 'UNAVAILABLE', message: 'unavailable' }),
    );
    const words = [
      'token',
      'create',
      '--name',
      'ci',
      '--user',
      'bob',
      '--scope',
      'read',
      'write',
      '--expires',
      '30 days',
    ];
    const { stdout, stderr } = await callCli(words, { env });
    expect(stdout).toBe(`${fresh}\n`);
    expect(stderr).toContain('Token abcdefghijkl of ada (workspace default): read, write; valid until 2026-12-01');
    expect(api.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/tokens',
      body: { name: 'ci', user: 'bob', scopes: ['read', 'write'], expires: '30 days' },
    });
    await callCli(['token', 'create', '--format', 'json'], { env });
    expect(api.requests[1]?.body).toEqual({});
    expect(await callCli(['token', 'create'], { env })).toMatchObject({ code: 1, stdout: '' });
    expect(api.requests).toHaveLength(3);
    expect(await callCli(['token', 'create', '--scope', 'all'], { env })).toMatchObject({ code: 2, stdout: '' });
  });

  it('are listed without revoked tokens, and revoked', async () => {
    const items = [
      aToken(),
      aToken({ id: 'bbbbbbbbbbbb', name: '\u001b[2Jx', expiresAt: '2024-12-01T00:00:00.000Z' }),
      aToken({ id: 'cccccccccccc', revokedAt: '2024-12-01T00:00:00.000Z' }),
    ];
    const { api, env } = await standIn(({ method }) => ({ json: method === 'GET' ? { items } : items[2] }));
    const { stdout } = await callCli(['token', 'list'], { env });
    expect(stdout).toContain(
      '│ abcdefghijkl │ laptop │ ada  │ read write │ 2024-11-18 17:25:08 │                     │ valid   │',
    );
    expect(stdout).toContain(
      '│ bbbbbbbbbbbb │ x      │ ada  │ read write │ 2024-11-18 17:25:08 │ 2024-12-01 00:00:00 │ expired │',
    );
    expect(stdout).not.toContain('cccccccccccc');
    expect((await callCli(['token', 'list', '--all'], { env })).stdout).toContain('revoked');
    expect((await callCli(['token', 'revoke', 'cccccccccccc'], { env })).stdout).toBe(
      'Token cccccccccccc of ada is revoked\n',
    );
    expect(api.requests.at(-1)).toMatchObject({ method: 'POST', path: '/v1/tokens/cccccccccccc/revoke' });
  });
});

describe('users and workspaces', () => {
  const workspace: WorkspaceInfo = {
    slug: 'default',
    limits: { running: 100, instances: 200, vcpus: 400 },
    perUser: { vcpus: 16 },
    defaults: { region: 'us-west-2' },
    use: { running: 1, instances: 4, vcpus: 4 },
    users: [{ name: 'ada', use: { running: 1, instances: 4, vcpus: 4 } }],
    events: [],
  };

  it('are shown with usage and limits', async () => {
    const { env } = await standIn(({ path }) => ({ json: path === '/v1/users' ? { items: [ada] } : workspace }));
    expect((await callCli(['user', 'list'], { env })).stdout).toContain(
      '│ ada  │ admin │               1 │         4 │ 4 / 8 │',
    );
    const limits = await callCli(['workspace', 'limits'], { env });
    expect(limits.stdout).toContain('│ workspace default  │         1 / 100 │   4 / 200 │ 4 / 400 │');
    expect(limits.stdout).toContain('│   ada              │               1 │         4 │       4 │');
    expect((await callCli(['workspace', 'defaults'], { env })).stdout).toBe('region: us-west-2\n');
    expect(limits.stdout).toContain('│ limit of each user │                 │           │      16 │');
  });

  it.each([
    [['user', 'set', 'bob', '--role', 'member'], 'PUT /v1/users/bob', { role: 'member' }],
    [
      ['user', 'set', 'b@x+y', '--vcpus', '0', '--running', '3'],
      'PUT /v1/users/b%40x%2By',
      { limits: { running: 3, vcpus: 0 } },
    ],
    [['user', 'set', 'bob', '--no-own-limits'], 'PUT /v1/users/bob', { limits: null }],
    [['user', 'set', 'bob'], 'PUT /v1/users/bob', {}],
    [['user', 'remove', 'bob'], 'DELETE /v1/users/bob', undefined],
    [
      ['workspace', 'limits', '--running', '5', '--user-vcpus', '2'],
      'PUT /v1/workspace/limits',
      { running: 5, perUser: { vcpus: 2 } },
    ],
    [['workspace', 'limits', '--no-per-user'], 'PUT /v1/workspace/limits', { perUser: null }],
    [['workspace', 'limits'], 'GET /v1/workspace', undefined],
    [
      ['workspace', 'defaults', '--region', 'us-west-2', '--allow-ssh'],
      'PUT /v1/workspace/defaults',
      { region: 'us-west-2', allowSsh: true },
    ],
    [['workspace', 'defaults', '--clear'], 'PUT /v1/workspace/defaults', {}],
    [['workspace', 'defaults'], 'GET /v1/workspace', undefined],
  ])('%j sends the request', async (words, sent, body) => {
    const { api, env } = await standIn(({ path }) => ({ json: path.startsWith('/v1/users') ? ada : workspace }));
    expect(await callCli(words, { env })).toMatchObject({ code: 0 });
    expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([sent]);
    expect(api.requests[0]?.body).toEqual(body);
  });

  it.each([
    ['user', 'set', 'bob', '--role', 'king'],
    ['user', 'set', 'bob', '--vcpus', '-1'],
    ['user', 'set', 'bob', '--no-own-limits', '--vcpus', '1'],
    ['workspace', 'limits', '--no-per-user', '--user-vcpus', '1'],
    ['workspace', 'create', 'team-a'],
    ['workspace'],
  ])('%j %j %j is refused without a request', async (...words) => {
    const { api, env } = await standIn(() => ({ json: {} }));
    expect(await callCli(words, { env })).toMatchObject({ code: 2, stdout: '' });
    expect(api.requests).toEqual([]);
  });

  it('are created by an operator with the token of their admin, and listed', async () => {
    const { api, env } = await standIn(({ method }) =>
      method === 'POST'
        ? { status: 201, json: { slug: 'team-a', admin: created } }
        : { json: { items: [{ slug: 'team-a', createdAt: '2024-11-18T17:25:08.000Z' }] } },
    );
    const made = await callCli(['workspace', 'create', 'team-a', '--admin', 'ada'], { env });
    expect(made).toMatchObject({ code: 0, stdout: `${fresh}\n`, stderr: expect.stringContaining('team-a is created') });
    expect(api.requests[0]).toMatchObject({ path: '/v1/workspaces', body: { slug: 'team-a', admin: 'ada' } });
    expect((await callCli(['workspace', 'list'], { env })).stdout).toContain('│ team-a    │ 2024-11-18 17:25:08 │');
  });

  it('that the user is forbidden to change are an error with a hint', async () => {
    const { env } = await standIn(() =>
      anError(403, { code: 'FORBIDDEN', message: 'This needs the scope admin.', hint: 'Ask an admin.' }),
    );
    expect(await callCli(['user', 'set', 'bob'], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: This needs the scope admin.\n  how to fix: Ask an admin.\n  request id: req_1\n',
    });
  });
});
