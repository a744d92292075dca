// Approvals before spend over HTTP: a request whose cost exceeds the workspace's threshold waits, and nothing is launched before
// the approval.
import { describe, expect, it } from 'vitest';

import { bundleKey, caKey } from '../../platform/archive-keys.ts';
import { cloudApi } from './cloud.ts';
import { createReplica } from './support.ts';

const big = { workers: 20, workerVmTypes: ['m6i.large'], schedulerVmTypes: ['m6i.large'] };

async function open(rule: object = { dollarsPerHour: 1 }) {
  const api = await cloudApi();
  const admin = await api.addToken('default', ['read', 'write', 'admin'], 'ada');
  const boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
  const member = await api.addToken('default', ['read', 'write'], 'bob', 'member');
  const set = (body: object) => api.call('PUT', '/v1/workspace/approval', { token: admin, body });
  expect((await set(rule)).status).toBe(200);
  const read = async (path: string, token = admin) => (await api.call('GET', path, { token })).json();
  const create = async (body: object, headers: Record<string, string> = {}, token = member) => {
    const response = await api.call('POST', '/v1/clusters', { body, token, headers });
    return { status: response.status, ...(await response.json()) };
  };
  const decide = async (number: number, verb: 'approve' | 'reject', token = boss, body: object = {}) => {
    const response = await api.call('POST', `/v1/approvals/${number}/${verb}`, { token, body });
    return { status: response.status, ...(await response.json()) };
  };
  return { ...api, admin, boss, member, set, read, create, decide };
}

describe('a cluster above the threshold', () => {
  it('waits, says so everywhere, and starts when an admin has approved it', async () => {
    const { create, read, decide, workflows, work, deps } = await open();
    const made = await create({ ...big, name: 'big' }, { 'idempotency-key': 'k' });
    const { number } = made;
    expect(made).toMatchObject({ status: 201, needsApproval: expect.stringContaining('more than the $1.00') });
    expect(made.warnings.at(-1)).toContain('It starts when an admin has approved it.');
    const reason = { code: 'WAITING_FOR_APPROVAL', text: expect.stringContaining('for an admin to approve it') };
    expect(await read(`/v1/clusters/${number}`)).toMatchObject({ status: 'waiting', reason });
    expect((await read('/v1/clusters?status=waiting')).items).toMatchObject([{ number, status: 'waiting' }]);
    expect(
      (await read(`/v1/clusters/${number}/why`)).sentences.map(({ text }: { text: string }) => text).join(' '),
    ).toContain('for an admin to approve it');
    expect((await create({ ...big, name: 'big' }, { 'idempotency-key': 'k' })).number).toBe(number);
    await work();
    expect(workflows.starts).toEqual([]);
    expect((await read('/v1/approvals?state=pending')).items).toMatchObject([
      { number, kind: 'cluster', name: 'big', user: 'bob', state: 'pending', dollarsPerHour: expect.closeTo(2.121, 3) },
    ]);
    expect(await decide(number, 'approve', undefined, { comment: 'for the paper' })).toMatchObject({
      ...{ status: 200, state: 'approved', decidedBy: 'boss', comment: 'for the paper' },
    });
    await work();
    expect(workflows.starts).toEqual([`cluster/${number}`]);
    expect((await decide(number, 'approve')).status).toBe(200);
    expect((await decide(number, 'reject')).status).toBe(409);
    expect((await deps.store.workspaces.events('default', 1))[0]).toMatchObject({ code: 'APPROVED', by: 'boss' });
  });

  it('is approved by no member and not by its creator, unless the workspace allows that', async () => {
    const { create, decide, member, admin, boss, set, read } = await open();
    const { number } = await create(big, {}, boss);
    expect((await decide(number, 'approve', member)).status).toBe(403);
    expect((await decide(number, 'reject', member)).status).toBe(403);
    expect(await decide(number, 'approve')).toMatchObject({ status: 403, error: { code: 'FORBIDDEN' } });
    expect((await read('/v1/approvals')).items[0].state).toBe('pending');
    await set({ dollarsPerHour: 1, allowOwn: true });
    expect((await decide(number, 'approve')).status).toBe(200);
    expect((await decide(999, 'approve', admin)).status).toBe(404);
    for (const [body, field] of [
      [{ dollarsPerHour: -1 }, 'dollarsPerHour'],
      [{ dollars: 5, timeout: '10s' }, 'timeout'],
      [{ perHour: 5 }, 'perHour'],
    ] as const) {
      const response = await set(body);
      expect([response.status, (await response.json()).error.field]).toEqual([422, field]);
    }
  });

  it('is not approved, nor grown, by its creator with a token that they made for another admin', async () => {
    const { create, decide, boss, admin, call } = await open();
    const { number } = await create(big, {}, boss);
    const { number: small } = await create({ ...big, workers: 1 }, {}, boss);
    const make = async (token: string, user: string): Promise<string> => {
      const made = await call('POST', '/v1/tokens', { token, body: { user, name: 'spare' } });
      expect(made.status).toBe(201);
      return (await made.json()).token;
    };
    const borrowed = await make(boss, 'ada');
    // Nor with a token that such a token created, nor for oneself.
    for (const token of [borrowed, await make(borrowed, 'ada'), await make(borrowed, 'boss')]) {
      expect(await decide(number, 'approve', token)).toMatchObject({ status: 403, error: { code: 'FORBIDDEN' } });
      const grown = await call('POST', `/v1/clusters/${small}/scale`, { token, body: { workers: 30 } });
      expect([grown.status, (await grown.json()).error?.code]).toEqual([403, 'APPROVAL_REQUIRED']);
    }
    expect((await decide(number, 'approve', await make(admin, 'ada'))).status).toBe(200);
  });

  it('ends without a start when it is rejected, stopped, or not approved in time, and nothing stays sealed', async () => {
    const { create, decide, read, call, member, clock, work, workflows, store, vault } = await open({
      ...{ dollarsPerHour: 1, timeout: '2h' },
    });
    const [one, two, three] = [await create(big), await create(big), await create(big)].map(({ number }) => number);
    await decide(one, 'reject', undefined, { comment: 'too dear' });
    expect(await read(`/v1/clusters/${one}`)).toMatchObject({
      ...{ status: 'stopped', reason: { code: 'REJECTED', text: 'Rejected by boss: too dear' } },
    });
    const stopped = await call('POST', `/v1/clusters/${two}/stop`, { token: member });
    expect(await stopped.json()).toMatchObject({ status: 'stopped', reason: { code: 'STOPPED' } });
    clock.offsetMs += 2 * 3_600_000;
    await work();
    expect(await read(`/v1/clusters/${three}`)).toMatchObject({
      ...{ status: 'stopped', reason: { code: 'APPROVAL_TIMED_OUT' } },
    });
    expect(workflows.starts).toEqual([]);
    for (const number of [one, two, three]) {
      const admissionId = (await store.clusters.find('default', number))?.admissionId ?? '';
      expect(await vault.open(bundleKey('default', admissionId))).toBeNull();
      expect(await vault.open(caKey('default', admissionId))).toBeNull();
    }
    const { items } = await read('/v1/notifications');
    expect(
      items.map(({ type }: { type: string }) => type).filter((type: string) => type.startsWith('approval')),
    ).toEqual([
      ...['approval.expired', 'approval.rejected'],
      ...['approval.requested', 'approval.requested', 'approval.requested'],
    ]);
  });

  it('is decided at another replica, after the first one was killed and while Temporal was unavailable', async () => {
    const api = await open();
    const { number } = await api.create(big);
    const replica = await createReplica(api);
    api.workflows.control.isUnavailable = true;
    const approve = () => replica.call('POST', `/v1/approvals/${number}/approve`, { token: api.boss, body: {} });
    expect((await approve()).status).toBe(200);
    api.workflows.control.isUnavailable = false;
    await replica.work();
    expect(api.workflows.starts).toEqual([`cluster/${number}`]);
  });
});

it('a job waits too, for the total that it may cost; the plan of one says so', async () => {
  const { submit, read, decide, work, workflows, call } = await open({ dollars: 2 });
  const body = { command: ['true'], ntasks: 10, vmTypes: ['m6i.large'] };
  const small = await submit({ ...body, maxCost: 1 });
  const number = await submit(body);
  expect(await read(`/v1/jobs/${number}`)).toMatchObject({
    status: 'waiting',
    reason: { code: 'WAITING_FOR_APPROVAL' },
  });
  const plan = await (await call('POST', '/v1/plans/jobs', { body })).json();
  expect(plan.warnings.join(' ')).toContain('It starts when an admin has approved it.');
  await work();
  expect(workflows.starts).toEqual([`job/${small}`]);
  await decide(number, 'approve');
  await work();
  expect(workflows.starts).toEqual([`job/${small}`, `job/${number}`]);
});

it('a small cluster grows above the threshold only by an admin who did not create it, or up to what was approved', async () => {
  const { create, read, decide, work, call, member, admin } = await open();
  const scale = async (number: number, workers: number, token = member) => {
    const response = await call('POST', `/v1/clusters/${number}/scale`, { body: { workers }, token });
    return { status: response.status, code: (await response.json()).error?.code };
  };
  const { number } = await create({ ...big, workers: 2 });
  await work();
  expect((await read(`/v1/clusters/${number}`)).status).toBe('pending');
  expect(await scale(number, 50)).toEqual({ status: 403, code: 'APPROVAL_REQUIRED' });
  const adapt = await call('POST', `/v1/clusters/${number}/adapt`, {
    body: { minimum: 1, maximum: 50 },
    token: member,
  });
  expect(adapt.status).toBe(403);
  expect((await scale(number, 5)).status).toBe(202);
  expect((await scale(number, 50, admin)).status).toBe(202);
  const waiting = await create(big);
  expect(await scale(waiting.number, 1)).toEqual({ status: 503, code: 'NOT_YET' });
  await decide(waiting.number, 'approve');
  await work();
  expect((await scale(waiting.number, 1)).status).toBe(202);
  expect((await scale(waiting.number, 20)).status).toBe(202);
  expect((await scale(waiting.number, 40)).code).toBe('APPROVAL_REQUIRED');
});
