// Users on a real stack: a login on another device, a token that is revoked under an open stream, and a cancellation that is
// requested while Temporal is frozen, outlives the API and Temporal's own end, and is carried out.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { startStack, type TestStack } from '../support/stack.ts';

describe('people', () => {
  let stack: TestStack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.stop());

  const call = async (method: string, path: string, { token = stack.token, body }: Call = {}) => {
    const response = await fetch(`${stack.apiUrl}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };

  it('sign in on another device, and lose what hangs from a revoked token', async () => {
    expect((await call('GET', '/v1/whoami')).body).toMatchObject({
      role: 'admin',
      scopes: expect.arrayContaining(['operator']),
    });
    const { body: login } = await call('POST', '/v1/login/device', { token: null, body: { client: 'a test' } });
    const poll = () => call('POST', '/v1/login/device/token', { token: null, body: { deviceCode: login.deviceCode } });
    expect((await poll()).status).toBe(428);
    expect((await call('POST', '/v1/login/device/approve', { body: { userCode: login.userCode } })).status).toBe(200);
    const { token, id } = (await poll()).body;

    const { body: job } = await call('POST', '/v1/jobs', {
      token,
      body: { command: ['bash', '-c', 'echo here; sleep 600'] },
    });
    const follow = await eventually(async () => {
      const response = await fetch(`${stack.apiUrl}/v1/jobs/${job.number}/logs?follow=true`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return response.status === 200 ? response : null;
    });
    const reader = follow.body?.getReader();
    await reader?.read();
    expect((await call('POST', `/v1/tokens/${id}/revoke`)).status).toBe(200);
    expect((await call('GET', '/v1/whoami', { token })).status).toBe(401);
    const drained = async (): Promise<never> => {
      for (;;) if ((await reader?.read())?.done !== false) throw new Error('it looked complete');
    };
    await expect(drained()).rejects.not.toThrow('it looked complete');
    expect((await call('POST', `/v1/jobs/${job.number}/cancel`)).status).toBe(202);
  });

  it('end jobs while Temporal is unavailable: the cancel is carried out once everything is back', async () => {
    const { body: job } = await call('POST', '/v1/jobs', { body: { command: ['sleep', '600'] } });
    await eventually(async () => (await call('GET', `/v1/jobs/${job.number}`)).body.status === 'running');
    await stack.kill('temporal', 'SIGSTOP');
    const cancel = await eventually(async () => {
      const answer = await call('POST', `/v1/jobs/${job.number}/cancel`);
      return answer.status === 202 ? answer : null;
    });
    expect(cancel.body).toMatchObject({ acceptedForLater: true });
    const stale = await call('GET', `/v1/jobs/${job.number}`);
    expect(stale.body.staleSince).toMatch(/^\d{4}-/);
    const create = await call('POST', '/v1/jobs', { body: { command: ['true'] } });
    expect([create.status, create.body]).toMatchObject([201, { acceptedForLater: true }]);

    // A newly started API reads tokens and limits from the database.
    await stack.kill('api', 'SIGKILL');
    const known = await eventually(async () => {
      const answer = await call('GET', '/v1/workspace').catch(() => null);
      return answer?.status === 200 ? answer : null;
    });
    expect(known.body).toMatchObject({ slug: 'default' });
    expect((await call('GET', '/v1/whoami', { token: `${stack.token.slice(0, -2)}AA` })).status).toBe(401);
    await stack.kill('temporal', 'SIGKILL');
    const ended = await eventually(
      async () => {
        const { body } = await call('GET', `/v1/jobs/${job.number}`).catch(() => ({ body: null }));
        return body?.status === 'cancelled' ? body : null;
      },
      { timeoutMs: 90_000, intervalMs: 500 },
    );
    expect(ended.reason).toMatchObject({ code: 'CANCELLED', text: expect.stringContaining('Cancelled by') });
  });
});

interface Call {
  token?: string | null;
  body?: unknown;
}
