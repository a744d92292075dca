// The quota that a cluster may need is reserved before it grows; an ending cluster releases its name.
import { describe, expect, it } from 'vitest';

import { createTestApi, type TestApi } from './support.ts';

const setUp = async (limits: { instances: number; vcpus: number; running: number }, workers = 2) => {
  const api = await createTestApi();
  await api.setLimits(limits);
  const number = await api.startCluster({ workers });
  const ask = async (what: string, body: object) => {
    const response = await api.call('POST', `/v1/clusters/${number}/${what}`, { body });
    return { status: response.status, body: await response.json() };
  };
  const target = () => api.workflows.clusters.get(number)?.target;
  return { api, number, ask, target };
};

const roomy = { instances: 10, vcpus: 10, running: 10 };

describe('a cluster that is scaled', () => {
  it('reserves what it may grow to first, and releases what it has left', async () => {
    const { api, ask, target } = await setUp(roomy);
    expect((await ask('scale', { workers: 9 })).status).toBe(202);
    expect([await api.usage(), target()]).toEqual([{ running: 1, instances: 10, vcpus: 10 }, 10]);
    const over = await ask('scale', { workers: 10 });
    expect(over).toMatchObject({ status: 429, body: { error: { code: 'LIMIT_EXCEEDED' } } });
    expect([(await api.usage()).instances, target()]).toEqual([10, 10]);
    await ask('scale', { workers: 1 });
    expect([await api.usage(), target()]).toEqual([{ running: 1, instances: 2, vcpus: 2 }, 2]);
  });

  it("counts adaptive scaling's maximum from the start, and what is there when that is turned off", async () => {
    const { api, ask } = await setUp(roomy);
    expect((await ask('adapt', { minimum: 0, maximum: 10 })).status).toBe(429);
    expect((await ask('adapt', { minimum: 0, maximum: 8 })).status).toBe(202);
    expect((await api.usage()).instances).toBe(9);
    await ask('adapt', {});
    expect((await api.usage()).instances).toBe(3);
    await ask('adapt', { minimum: 0, maximum: 8 });
    // A scale request turns adaptive scaling off, and releases its reservation.
    await ask('scale', { workers: 4 });
    expect((await api.usage()).instances).toBe(5);
    await ask('scale', { workers: 3 });
    expect((await api.usage()).instances).toBe(4);
  });

  it('counts for the limits of the user who started it, also when another user scales it', async () => {
    const { api, ask } = await setUp(roomy);
    await api.store.people.putUser('default', { name: 'ada', limits: { instances: 5 }, by: null }, api.now());
    const response = await ask('scale', { workers: 5 });
    expect(response.body.error.message).toContain('ada');
    expect((await ask('scale', { workers: 4 })).status).toBe(202);
    expect(api.workflows.clusters.size).toBe(1);
  });

  it('keeps its reservation while it is unknown whether the signal arrived', async () => {
    const { api, ask, target } = await setUp(roomy, 6);
    const { port } = api.workflows;
    const original = port.signal.bind(port);
    port.signal = () => Promise.reject(new Error('cut off'));
    expect((await ask('scale', { workers: 1 })).status).toBe(500);
    expect([(await api.usage()).instances, target()]).toEqual([7, 7]);
    port.signal = original;
    await ask('scale', { workers: 2 });
    expect([(await api.usage()).instances, target()]).toEqual([3, 3]);
  });

  it('says who did what', async () => {
    const { api, number, ask } = await setUp(roomy);
    await ask('scale', { workers: 1 });
    await ask('adapt', { minimum: 1, maximum: 2 });
    await api.call('POST', `/v1/clusters/${number}/stop`);
    const { events } = await (await api.call('GET', `/v1/clusters/${number}`)).json();
    const authors = events.map(({ code, by }: { code: string; by: string | null }) => [code, by]);
    expect(authors).toEqual([
      ['CREATED', 'ada'],
      ['SCALE', 'ada'],
      ['ADAPT', 'ada'],
      ['STOPPED', 'ada'],
    ]);
  });
});

describe('a name whose cluster is ending', () => {
  const create = async (api: TestApi, headers = {}) =>
    (await api.call('POST', '/v1/clusters', { body: { name: 'weather' }, headers })).json();

  it('is given to a new one', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ name: 'weather' });
    expect(await create(api)).toMatchObject({ number, existing: true });
    await api.call('POST', `/v1/clusters/${number}/stop`);
    const next = await create(api, { 'idempotency-key': 'k' });
    expect(next).toMatchObject({ name: 'weather', existing: false });
    expect(next.number).toBeGreaterThan(number);
    expect(await create(api, { 'idempotency-key': 'k' })).toMatchObject({ number: next.number });
    expect(await create(api)).toMatchObject({ number: next.number, existing: true });
  });

  it('but the key of the request that made it still answers with it', async () => {
    const api = await createTestApi();
    const headers = { 'idempotency-key': 'first' };
    const number = await api.startCluster({ name: 'weather' }, { headers });
    await api.call('POST', `/v1/clusters/${number}/stop`);
    expect(await create(api, headers)).toMatchObject({ number });
  });
});
