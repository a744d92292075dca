// `ropewalk approvals`, `approve`, `reject` and `workspace approval`, as a user runs them.
import { expect, it } from 'vitest';

import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const approval = {
  ...{ number: 12, kind: 'cluster', name: 'big', user: 'bob', why: 'It costs up to $6.00 an hour.', state: 'pending' },
  ...{ dollarsPerHour: 6, dollars: null, askedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' },
  ...{ decidedAt: null, decidedBy: null, comment: null },
};

it('lists what waits, and decides it with a comment', async () => {
  const { api, env } = await standIn(({ method }) => ({
    json: method === 'GET' ? { items: [approval], next: null } : { ...approval, state: 'approved', decidedBy: 'ada' },
  }));
  const listed = await callCli(['approvals'], { env });
  expect(listed.stdout).toMatch(/12 │ cluster │ big +│ bob +│ +\$6\.00 │ no limit │ pending/);
  const { code, stdout } = await callCli(['approve', '12', '--comment', 'for the paper'], { env });
  expect([code, stdout]).toEqual([0, 'The cluster 12 (big) is approved\n']);
  expect((await callCli(['reject', '12'], { env })).code).toBe(0);
  expect((await callCli(['approve', 'twelve'], { env })).code).toBe(2);
  expect(api.requests.map(({ method, path, query, body }) => [method, path, query, body])).toEqual([
    ['GET', '/v1/approvals', { limit: '1000', state: 'pending' }, undefined],
    ['POST', '/v1/approvals/12/approve', {}, { comment: 'for the paper' }],
    ['POST', '/v1/approvals/12/reject', {}, {}],
  ]);
});

it('shows the rule, and replaces it as a whole', async () => {
  const rule = { dollarsPerHour: 5, dollars: null, allowOwn: false, timeoutSeconds: 86_400 };
  const { api, env } = await standIn(() => ({ json: rule }));
  const shown = await callCli(['workspace', 'approval'], { env });
  expect(shown.stdout).toContain('more than $5.00 an hour wait for an admin, at most 24 h.');
  const set = ['workspace', 'approval', '--per-hour', '5', '--allow-own', '--timeout', '2h'];
  expect((await callCli(set, { env })).code).toBe(0);
  expect((await callCli(['workspace', 'approval', '--off'], { env })).code).toBe(0);
  expect((await callCli(['workspace', 'approval', '--allow-own'], { env })).code).toBe(2);
  expect((await callCli(['workspace', 'approval', '--off', '--total', '5'], { env })).code).toBe(2);
  expect(api.requests.map(({ method, body }) => [method, body])).toEqual([
    ['GET', undefined],
    ['PUT', { dollarsPerHour: 5, allowOwn: true, timeout: '2h' }],
    ['PUT', {}],
  ]);
});
