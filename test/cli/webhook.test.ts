// `ropewalk webhook` and `ropewalk notifications`.
import { expect, it } from 'vitest';

import { openStandIn, token } from '../sdk/open-stand-in.ts';
import { callCli } from './call-cli.ts';

const id = `wh_${'a'.repeat(26)}`;
const at = '2026-01-01T00:00:00.000Z';
const webhook = {
  ...{
    id,
    origin: 'https://example.com',
    events: ['job.*'],
    object: null,
    mayApprove: false,
    format: 'standard',
    description: '',
    user: 'ada',
  },
  ...{ createdAt: at, disabledAt: null },
};

async function run(words: string[], json: unknown) {
  const api = await openStandIn(() => ({ status: 200, json }));
  const result = await callCli(words, { env: { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token } });
  return { ...result, request: api.requests[0] };
}

it('creates, and prints the secret once', async () => {
  const words = ['webhook', 'create', 'https://example.com/x', '--event', 'job.*', '--as', 'slack'];
  const { code, stdout, request } = await run(words, { ...webhook, secret: 'whsec_abc' });
  expect([code, stdout]).toEqual([0, `Webhook ${id}\nSecret: whsec_abc\n`]);
  expect(request).toMatchObject({ method: 'POST', path: '/v1/webhooks' });
  expect(request?.body).toEqual({ url: 'https://example.com/x', events: ['job.*'], format: 'slack' });
});

it('subscribes a URL to one job or one cluster', async () => {
  const words = ['webhook', 'create', 'https://example.com/x'];
  const one = await run([...words, '--job', '12'], { ...webhook, object: 'job/12', secret: 'whsec_abc' });
  expect(one.request?.body).toEqual({ url: 'https://example.com/x', object: 'job/12' });
  const other = await run([...words, '--cluster', '3'], { ...webhook, object: 'cluster/3', secret: 'whsec_abc' });
  expect(other.request?.body).toEqual({ url: 'https://example.com/x', object: 'cluster/3' });
  expect((await run([...words, '--cluster', '3', '--job', '12'], webhook)).code).toBe(2);
  expect((await run(['webhook', 'list'], { items: [{ ...webhook, object: 'job/12' }] })).stdout).toContain('job/12');
});

it('lets a receiver approve', async () => {
  const words = ['webhook', 'create', 'https://example.com/x', '--may-approve'];
  const { request } = await run(words, { ...webhook, mayApprove: true, secret: 'whsec_abc' });
  expect(request?.body).toEqual({ url: 'https://example.com/x', mayApprove: true });
  const listed = await run(['webhook', 'list'], { items: [{ ...webhook, mayApprove: true }] });
  expect(listed.stdout).toContain('standard, approves');
});

it('subscribes an e-mail address, which needs no secret', async () => {
  const mail = { ...webhook, origin: 'mailto:ada@example.com', format: 'email', secret: 'whsec_abc' };
  const { stdout, stderr, request } = await run(['webhook', 'create', 'mailto:ada@example.com'], mail);
  expect([stdout, request?.body]).toEqual([`Webhook ${id}\n`, { url: 'mailto:ada@example.com' }]);
  expect(stderr).toContain(`Try it: ropewalk webhook test ${id}`);
});

it('lists, tests, deletes, and shows deliveries and notifications', async () => {
  expect((await run(['webhook', 'list'], { items: [webhook] })).stdout).toMatch(
    /https:\/\/example.com .*job\.\*.*enabled/,
  );
  expect((await run(['webhook', 'test', id], { delivery: 3 })).request?.path).toBe(`/v1/webhooks/${id}/test`);
  expect((await run(['webhook', 'delete', id], webhook)).stdout).toBe(`Webhook ${id} is deleted\n`);
  const delivery = {
    id: 3,
    webhook: id,
    type: 'job.failed',
    object: 'job/1',
    state: 'pending',
    attempts: 2,
    status: 500,
    error: null,
  };
  const shown = await run(['webhook', 'deliveries', id], {
    items: [{ ...delivery, at, nextAttemptAt: at }],
    next: null,
  });
  expect(shown.stdout).toMatch(/job\.failed .*job\/1 .*pending .*2 .*500/);
  expect(shown.request).toMatchObject({ method: 'GET', path: '/v1/webhook-deliveries' });
  const item = { id: 1, type: 'job.failed', object: 'job/1', text: 'Job 1 has failed', data: {}, at };
  expect((await run(['notifications'], { items: [item], next: null })).stdout).toContain('Job 1 has failed');
});
