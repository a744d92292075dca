// Approval by answering a webhook: signed by the specification's library, for one request and one webhook, once, in time, and
// limited to the current rights of the token that created the webhook.
import { Webhook as Signer } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';

import { cloudApi } from './cloud.ts';
import { receiver } from './webhook-receiver.ts';

const big = { workers: 20, workerVmTypes: ['m6i.large'], schedulerVmTypes: ['m6i.large'] };

interface Asked {
  webhook: string;
  secret: string;
  number: number;
  id: string;
}

async function open() {
  const api = await cloudApi('aws', { allowPrivateWebhooks: true });
  const admin = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
  const member = await api.addToken('default', ['read', 'write'], 'bob', 'member');
  await api.call('PUT', '/v1/workspace/approval', { token: admin, body: { dollarsPerHour: 1 } });
  const { received, url } = await receiver();
  const subscribe = async (body: object = { mayApprove: true }, token = admin) => {
    const response = await api.call('POST', '/v1/webhooks', { token, body: { url, ...body } });
    return { status: response.status, ...(await response.json()) };
  };
  /** A member submits a request that needs an approval; the receiver gets the webhook. */
  const ask = async ({ id: webhook, secret }: { id: string; secret: string }, token = member): Promise<Asked> => {
    const { number } = await (await api.call('POST', '/v1/clusters', { token, body: big })).json();
    await api.deps.webhooks.round();
    await api.deps.webhooks.settled();
    const message = JSON.parse(received.at(-1)?.body ?? '{}');
    expect([message.type, message.data.cluster]).toEqual(['approval.requested', number]);
    return { webhook, secret, number, id: message.data.answer?.id ?? '' };
  };
  const answer = async (
    { webhook, secret, number, id }: Asked,
    over: { body?: object; sent?: string; ageMs?: number; headers?: Record<string, string>; id?: string } = {},
  ) => {
    const body = JSON.stringify(over.body ?? { number, decision: 'approve' });
    const at = new Date(api.now() - (over.ageMs ?? 0));
    const signedId = over.id ?? id;
    const response = await api.app.request(`/v1/approval-answers/${webhook}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': signedId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Signer(secret).sign(signedId, at, body),
        ...over.headers,
      },
      body: over.sent ?? body,
    });
    return { status: response.status, ...(await response.json()) };
  };
  const state = async (number: number) => {
    const { items } = await (await api.call('GET', '/v1/approvals', { token: admin })).json();
    return items.find((each: { number: number }) => each.number === number);
  };
  return { ...api, admin, member, received, subscribe, ask, answer, state };
}

describe('the receiver of a webhook that may approve', () => {
  it('approves, and the webhook and its maker are named everywhere; a repetition is refused', async () => {
    const { subscribe, ask, answer, state, deps, call, admin } = await open();
    const hook = await subscribe();
    expect(hook).toMatchObject({ status: 201, mayApprove: true });
    const asked = await ask(hook);
    expect(await answer(asked)).toEqual({ status: 200, number: asked.number, state: 'approved' });
    const decidedBy = `boss by webhook ${hook.id}`;
    expect(await state(asked.number)).toMatchObject({ state: 'approved', decidedBy });
    const [event] = await deps.store.workspaces.events('default', 1);
    expect(event).toMatchObject({
      code: 'APPROVED',
      by: 'boss',
      text: expect.stringContaining(`by webhook ${hook.id}`),
    });
    expect((await answer(asked)).status).toBe(409);
    expect((await answer(asked, { body: { number: asked.number, decision: 'reject' } })).status).toBe(409);
    // No list contains the answer id.
    const listed = await (await call('GET', '/v1/notifications', { token: admin })).text();
    expect(listed).toContain('approval.requested');
    expect(listed).not.toContain(asked.id);
  });

  it('rejects with a comment, and nothing starts', async () => {
    const { subscribe, ask, answer, state, workflows } = await open();
    const asked = await ask(await subscribe());
    const body = { number: asked.number, decision: 'reject', comment: 'too much' };
    expect(await answer(asked, { body })).toMatchObject({ status: 200, state: 'rejected' });
    expect(await state(asked.number)).toMatchObject({ state: 'rejected', comment: 'too much' });
    expect(workflows.starts).toEqual([]);
  });

  it('is refused with another signature, body, time, id, request or webhook', async () => {
    const { subscribe, ask, answer, state, received } = await open();
    const [hook, other] = [await subscribe(), await subscribe({ mayApprove: true, events: ['job.*'] })];
    const asked = await ask(hook);
    const second = await ask(hook);
    const foreign = { ...asked, secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
    const own = received.at(-1);
    const refusals = [
      await answer(foreign),
      await answer(asked, { headers: { 'webhook-signature': '' } }),
      await answer(asked, { headers: { 'webhook-signature': 'v1,' } }),
      await answer(asked, { sent: JSON.stringify({ number: second.number, decision: 'approve' }) }),
      await answer(asked, { ageMs: 301_000 }),
      await answer(asked, { ageMs: -302_000 }),
      await answer(asked, { headers: { 'webhook-timestamp': 'NaN' } }),
      await answer(asked, { id: second.id }),
      await answer(asked, { id: '' }),
      await answer({ ...asked, number: second.number }),
      await answer({ ...asked, webhook: other.id }),
      await answer({ ...asked, webhook: other.id, secret: other.secret }),
      await answer({ ...asked, webhook: `wh_${'a'.repeat(26)}` }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 401));
    // The API's own message, sent back unchanged.
    const sentBack = await answer(asked, { sent: own?.body ?? '', headers: own?.headers as Record<string, string> });
    expect(sentBack.status).toBe(422);
    for (const { number } of [asked, second]) expect(await state(number)).toMatchObject({ state: 'pending' });
  });

  it('decides nothing once the webhook is deleted, its token revoked, or its maker no admin any more', async () => {
    const { subscribe, ask, answer, call, admin, addToken, revoke } = await open();
    const ada = await addToken('default', ['read', 'write', 'admin'], 'ada', 'admin');
    const [deleted, revoked, demoted] = [
      await subscribe(),
      await subscribe({ mayApprove: true }, ada),
      await subscribe(),
    ];
    const asked = await ask(deleted);
    await call('DELETE', `/v1/webhooks/${deleted.id}`, { token: admin });
    expect((await answer(asked)).status).toBe(401);
    const askedAda = await ask(revoked);
    await revoke(ada);
    expect((await answer(askedAda)).status).toBe(401);
    const third = await ask(demoted);
    const eve = await addToken('default', ['read', 'write', 'admin'], 'eve', 'admin');
    expect((await call('PUT', '/v1/users/boss', { token: eve, body: { role: 'member' } })).status).toBe(200);
    expect((await answer(third)).status).toBe(403);
    const { items } = await (await call('GET', '/v1/approvals', { token: eve })).json();
    expect(items.map((each: { state: string }) => each.state)).toEqual(['pending', 'pending', 'pending']);
  });

  it('approves nothing that the maker of the webhook has created', async () => {
    const { subscribe, ask, answer, state, admin } = await open();
    const asked = await ask(await subscribe(), admin);
    expect((await answer(asked)).status).toBe(403);
    expect(await state(asked.number)).toMatchObject({ state: 'pending' });
  });

  it('is too late after the time limit of the request', async () => {
    const { subscribe, ask, answer, clock } = await open();
    const asked = await ask(await subscribe());
    clock.offsetMs += 25 * 3_600_000;
    expect((await answer(asked)).status).toBe(409);
  });
});

describe('a webhook that may not approve', () => {
  it('gets no id to answer with, and its signature decides nothing', async () => {
    const { subscribe, ask, answer, state } = await open();
    const plain = await subscribe({});
    expect(plain).toMatchObject({ status: 201, mayApprove: false });
    const asked = await ask(plain);
    expect(asked.id).toBe('');
    expect((await answer({ ...asked, id: 'apr_x' })).status).toBe(401);
    expect(await state(asked.number)).toMatchObject({ state: 'pending' });
  });

  it('is one of a member or of another form', async () => {
    const { subscribe, member } = await open();
    expect((await subscribe({ mayApprove: true }, member)).status).toBe(403);
    expect((await subscribe({ mayApprove: true, format: 'slack' })).status).toBe(422);
  });
});
