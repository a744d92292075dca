// The token of an instance outlives the instance by up to two hours. It gives no access once the instance has been given up.
import { describe, expect, it } from 'vitest';

import { createDaskInstance } from '../api/dask-support.ts';
import { createTestApi, endedView, launch, type TestApi } from '../api/support.ts';
import { createCsr } from '../../agent/dask/csr.ts';

async function taskInstance(api: TestApi) {
  const job = await api.submit({ ntasks: 3, secretEnv: { PASSWORD: 'swordfish' } });
  const instance = `i_task0000${job}`;
  launch(api, job, instance);
  const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: job, seq: 1 });
  const body = { instance, bootId: `boot-of-${instance}-00000000`, address: '127.0.0.1', version: '0.1.0', pid: 42 };
  const registered = await (await api.call('POST', '/v1/agent/register', { token, body })).json();
  return { job, id: instance, token: String(registered.instanceToken) };
}

/** Ways to end an instance: out of its cluster, or stopping. */
const endings: [how: string, end: (api: TestApi, cluster: number, id: string) => void][] = [
  [
    'was terminated',
    (api, cluster, id) => {
      const state = api.workflows.clusters.get(cluster);
      if (state !== undefined) state.instances = state.instances.filter((instance) => instance.id !== id);
    },
  ],
  ...(['error', 'stopping'] as const).map((state): (typeof endings)[number] => [
    `is in state ${state}`,
    (api, cluster, id) => {
      const instance = api.workflows.clusters.get(cluster)?.instances.find((each) => each.id === id);
      if (instance !== undefined) instance.state = state;
    },
  ]),
];

describe.each(endings)('an instance that %s', (_how, end) => {
  it('of a job reads no bundle of secrets', async () => {
    const api = await createTestApi();
    const { job, id, token } = await taskInstance(api);
    const before = await api.call('GET', '/v1/agent/bundle', { token });
    expect([before.status, await before.text()]).toEqual([200, expect.stringContaining('swordfish')]);
    end(api, job, id);
    api.clock.offsetMs += 2_000;
    const after = await api.call('GET', '/v1/agent/bundle', { token });
    expect([after.status, await after.text()]).toEqual([403, expect.not.stringContaining('swordfish')]);
  });

  it('of a Dask cluster reads neither bundle nor orders, and gets no certificate', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ workers: 1, env: { PASSWORD: 'swordfish' } });
    const worker = await createDaskInstance(api, number, 1);
    const { csrPem } = await createCsr();
    const ask = async () => {
      const answers = [await worker.bundle(), await worker.orders(), await worker.certificate(csrPem)];
      return answers.map(({ status }) => status);
    };
    expect(await ask()).toEqual([200, 200, 200]);
    end(api, number, worker.id);
    api.clock.offsetMs += 21_000;
    expect(await ask()).toEqual([403, 403, 403]);
  });
});

it('during an outage the API serves an instance that it knew as live', async () => {
  const api = await createTestApi();
  const { token } = await taskInstance(api);
  expect((await api.call('GET', '/v1/agent/bundle', { token })).status).toBe(200);
  api.workflows.control.isUnavailable = true;
  api.clock.offsetMs += 5_000;
  expect((await api.call('GET', '/v1/agent/bundle', { token })).status).toBe(200);
});

it('an unknown instance gets 503 with Retry-After during an outage, no order to stop', async () => {
  const api = await createTestApi();
  const { job } = await taskInstance(api);
  const claims = { workspace: 'default', cluster: job, job, instance: 'i_new0000000' };
  const { instanceToken: token } = await api.tokens.mintInstance(claims);
  api.workflows.control.isUnavailable = true;
  api.clock.offsetMs += 5_000;
  const answer = await api.call('GET', '/v1/agent/bundle', { token });
  expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
});

describe('a large body with the token of an instance', () => {
  /** Resolves to the status, and the number of body bytes that were read. */
  async function send(api: TestApi, path: string, token: string) {
    let taken = 0;
    const bytes = 1024 * 1024;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          taken += 1024;
          if (taken > bytes) controller.close();
          else controller.enqueue(new Uint8Array(1024).fill(0x20));
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes) };
    const init = { method: 'POST', headers: { ...headers, authorization: `Bearer ${token}` }, body, duplex: 'half' };
    const { status } = await api.app.request(path, init);
    return { status, taken };
  }

  it.each(['/v1/agent/exchange', '/v1/agent/report', '/v1/agent/certificate'])(
    'is not read when its job has ended: %s',
    async (path) => {
      const api = await createTestApi();
      const { job, token } = await taskInstance(api);
      expect((await send(api, path, token)).taken).toBeGreaterThan(0);
      api.workflows.close(`cluster/${job}`, { failed: 'ended' });
      await api.workflows.endJob(endedView(api, job));
      api.clock.offsetMs += 10_000;
      const { status, taken } = await send(api, path, token);
      expect([403, 404]).toContain(status);
      expect(taken).toBe(0);
    },
  );

  it.each(endings)('is not read when the instance %s', async (_how, end) => {
    const api = await createTestApi();
    const { job, id, token } = await taskInstance(api);
    end(api, job, id);
    api.clock.offsetMs += 10_000;
    expect(await send(api, '/v1/agent/exchange', token)).toEqual({ status: 403, taken: 0 });
  });
});
