import { describe, expect, it, vi } from 'vitest';

import { createTestApi } from './support.ts';

const paths = [
  ['GET', '/v1/jobs'],
  ['POST', '/v1/jobs'],
  ['GET', '/v1/jobs/1'],
  ['GET', '/v1/jobs/1/tasks'],
  ['GET', '/v1/jobs/1/logs'],
  ['POST', '/v1/jobs/1/cancel'],
  ['GET', '/v1/clusters'],
  ['GET', '/v1/clusters/1'],
  ['POST', '/v1/clusters/1/stop'],
] as const;
const agentPaths = [
  ['POST', '/v1/agent/register'],
  ['POST', '/v1/agent/report'],
  ['POST', '/v1/agent/exchange'],
  ['GET', '/v1/agent/bundle'],
] as const;

const codeOf = async (response: Response): Promise<string> => (await response.json()).error.code;

describe('authentication', () => {
  it.each([...paths, ...agentPaths])('refuses a request without a token: %s %s', async (method, path) => {
    const api = await createTestApi();
    const response = await api.call(method, path, { token: null, ...(method === 'POST' ? { body: {} } : {}) });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await codeOf(response)).toBe('UNAUTHENTICATED');
  });

  it.each(paths)("refuses an agent's token on people's routes: %s %s", async (method, path) => {
    const api = await createTestApi();
    const { instanceToken } = await api.tokens.mintInstance({
      workspace: 'default',
      cluster: 1,
      job: 1,
      instance: 'i_aaaaaaaa',
    });
    const launchToken = await api.tokens.mintLaunch({ workspace: 'default', cluster: 1, seq: 1 });
    for (const token of [instanceToken, launchToken]) {
      expect((await api.call(method, path, { token })).status).toBe(401);
    }
  });

  it.each(agentPaths)("no person's token on agents' routes: %s %s", async (method, path) => {
    const api = await createTestApi();
    expect((await api.call(method, path)).status).toBe(401);
  });

  it('a launch token registers and does nothing else; an instance token cannot register', async () => {
    const api = await createTestApi();
    const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: 1, seq: 1 });
    for (const [method, path] of agentPaths.slice(1))
      expect((await api.call(method, path, { token })).status).toBe(401);
    const { instanceToken } = await api.tokens.mintInstance({
      workspace: 'default',
      cluster: 1,
      job: 1,
      instance: 'i_aaaaaaaa',
    });
    expect((await api.call('POST', '/v1/agent/register', { token: instanceToken, body: {} })).status).toBe(401);
  });

  it('refuses every wrong token with the same words', async () => {
    const api = await createTestApi();
    const head = api.token.slice(0, api.token.indexOf('-'));
    const secret = api.token.slice(head.length + 1);
    const wrong = [
      `${head}-${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`,
      `${head}-${'A'.repeat(43)}`,
      `${head}-`,
      `rw_default_unknowntoken-${secret}`,
      `rw_other_${head.split('_')[2]}-${secret}`,
      `rw_../../x_${head.split('_')[2]}-${secret}`,
      'rw_default',
      '-',
    ];
    const answers = new Set<string>();
    for (const token of wrong) {
      const response = await api.call('GET', '/v1/jobs', { token, headers: { 'x-request-id': 'same' } });
      expect(response.status).toBe(401);
      answers.add(await response.text());
    }
    expect(answers.size).toBe(1);
    expect((await api.call('GET', '/v1/jobs')).status).toBe(200);
  });

  it('takes the header as HTTP does: any case of Bearer, one token', async () => {
    const api = await createTestApi();
    const status = async (authorization: string) =>
      (await api.call('GET', '/v1/jobs', { token: null, headers: { authorization } })).status;
    expect(await status(`bearer ${api.token}`)).toBe(200);
    expect(await status(`Basic ${api.token}`)).toBe(401);
    expect(await status(`Bearer ${api.token} ${api.token}`)).toBe(401);
    expect(await status(api.token)).toBe(401);
  });

  it('refuses a token that another process revoked within a second, and an expired one at once', async () => {
    const api = await createTestApi();
    expect((await api.call('GET', '/v1/jobs')).status).toBe(200);
    await api.revoke(api.token);
    api.clock.offsetMs += 1_000;
    expect((await api.call('GET', '/v1/jobs')).status).toBe(401);
    const short = await api.addToken('default', ['read'], 'ada', 'admin', api.now() + 60_000);
    expect((await api.call('GET', '/v1/jobs', { token: short })).status).toBe(200);
    api.clock.offsetMs += 60_000;
    expect((await api.call('GET', '/v1/jobs', { token: short })).status).toBe(401);
  });

  it('reads a token once a second, asks Temporal nothing for it, and takes a new one at once', async () => {
    const api = await createTestApi();
    const find = vi.spyOn(api.deps.store.people, 'findToken');
    for (let n = 0; n < 5; n += 1) expect((await api.call('GET', '/v1/whoami')).status).toBe(200);
    expect(find).toHaveBeenCalledTimes(1);
    api.clock.offsetMs += 1_000;
    await Promise.all(Array.from({ length: 5 }, () => api.call('GET', '/v1/whoami')));
    expect(find).toHaveBeenCalledTimes(2);
    expect(api.workflows.calls).toEqual([]);
    const young = await api.addToken('default', ['read'], 'grace');
    expect((await api.call('GET', '/v1/jobs', { token: young })).status).toBe(200);
  });

  it('checks the scope', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    const reader = await api.addToken('default', ['read']);
    const scopeless = await api.addToken('default', []);
    expect((await api.call('GET', `/v1/jobs/${number}`, { token: reader })).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', '/v1/jobs', { command: ['true'] }],
      ['POST', `/v1/jobs/${number}/cancel`, undefined],
      ['POST', `/v1/clusters/${number}/stop`, undefined],
    ] as const) {
      const response = await api.call(method, path, { token: reader, ...(body === undefined ? {} : { body }) });
      expect(response.status).toBe(403);
      expect((await response.json()).error.message).toContain('needs the scope write');
    }
    for (const [method, path] of paths.filter(([method]) => method === 'GET')) {
      expect((await api.call(method, path, { token: scopeless })).status).toBe(403);
    }
  });

  it('accepts tokens as usual while Temporal is unavailable', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    api.clock.offsetMs += 3_600_000;
    expect((await api.call('GET', '/v1/whoami')).status).toBe(200);
    await api.revoke(api.token);
    api.clock.offsetMs += 1_000;
    expect((await api.call('GET', '/v1/whoami')).status).toBe(401);
  });

  it('refuses all but the tokens of the last second while the database is unavailable', async () => {
    const api = await createTestApi();
    const unseen = await api.addToken('default', ['read']);
    expect((await api.call('GET', '/v1/whoami')).status).toBe(200);
    api.database.isUnavailable = true;
    expect((await api.call('GET', '/v1/whoami')).status).toBe(200);
    const refused = await api.call('GET', '/v1/whoami', { token: unseen });
    expect([refused.status, refused.headers.get('retry-after'), await codeOf(refused)]).toEqual([
      503,
      '1',
      'UNAVAILABLE',
    ]);
    api.clock.offsetMs += 1_000;
    expect((await api.call('GET', '/v1/whoami')).status).toBe(503);
    api.database.isUnavailable = false;
    expect((await api.call('GET', '/v1/whoami')).status).toBe(200);
  });
});
