import { X509Certificate } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createCsr } from '../../agent/dask/csr.ts';
import { becomeEnding } from '../../domain/cluster/instance/transitions.ts';
import { instanceTokenTtlMs } from '../../domain/tokens/limits.ts';
import { clusterWithWorkers, started } from './dask-support.ts';
import { createTestApi, type TestApi } from './support.ts';

const schedulerAddress = 'tls://127.0.0.1:8786';
const queriesOf = (api: TestApi, number: number) =>
  api.workflows.calls.filter((call) => call === `query cluster/${number} cluster.view`).length;

/** Resolves once the API is holding the request instead of answering it. */
async function expectHeld(request: Promise<unknown>): Promise<void> {
  const outcome = await Promise.race([request, new Promise<null>((resolve) => setTimeout(resolve, 50, null))]);
  expect(outcome).toBeNull();
}

describe('agents of a Dask cluster', () => {
  it('register without a job and fetch the bundle of their cluster, and of no other', async () => {
    const api = await createTestApi();
    const { number, head } = await clusterWithWorkers(api, 0);
    expect(head.registered).toMatchObject({ job: null, role: 'head', schedulerAddress: null });
    const bundle = await head.bundle();
    expect(bundle.headers.get('cache-control')).toBe('no-store');
    expect(await bundle.json()).toMatchObject({ env: { PASSWORD: 'swordfish' }, aliveEveryMs: 180_000 });
    const claims = { cluster: number, instance: head.id, job: null };
    const foreign = await api.tokens.mintInstance({ ...claims, workspace: 'other' });
    const wrong = await api.tokens.mintInstance({ ...claims, workspace: 'default', cluster: number + 1 });
    for (const { instanceToken: token } of [foreign, wrong]) {
      expect((await api.call('GET', '/v1/agent/bundle', { token })).status).toBe(404);
    }
    const { csrPem: csr } = await createCsr();
    const intruder = await api.call('POST', '/v1/agent/certificate', { token: foreign.instanceToken, body: { csr } });
    expect(intruder.status).toBe(404);
  });

  it('report the state of their process, which the cluster view shows', async () => {
    const api = await createTestApi();
    const { number, head, others } = await clusterWithWorkers(api, 2);
    const [one, two] = others;
    await one?.report({ process: { ...started('', null), state: 'pending', name: 'w', stage: 'environment' } });
    const reason = { code: 'ENVIRONMENT_FAILED', text: 'no such package' };
    await two?.report({ process: { ...started('w2', null), state: 'error', reason } });
    const answer = await (await head.report({ process: started('scheduler', schedulerAddress) })).json();
    expect(answer.orders).toMatchObject({ schedulerAddress, stop: null });
    const tasks = { processing: 3, waiting: 2, memory: 1, erred: 0, noWorker: 0 };
    const scheduler = { tasks, clients: 1, idleForMs: null, adaptiveTarget: 2, workers: [] };
    expect((await head.report({ scheduler })).status).toBe(200);
    api.clock.offsetMs += 1_001;
    const cluster = await (await api.call('GET', `/v1/clusters/${number}`)).json();
    expect(cluster.dask).toMatchObject({ schedulerAddress, tasks, clients: 1, workersErrored: 1 });
    const processes = cluster.instances.map(({ process }: { process: { state: string } | null }) => process?.state);
    expect(processes).toEqual(['started', 'pending', 'error']);
    expect(cluster.instances[2].process.reason).toMatchObject(reason);
    const bad = await head.report({ scheduler: { ...scheduler, colour: 1 } });
    expect((await bad.json()).error.field).toBe('scheduler.colour');
  });

  it('are refused at their next renewal when their cluster has given them up, and not before', async () => {
    const api = await createTestApi();
    const { number, head, others } = await clusterWithWorkers(api, 1);
    const lost = others[0];
    const instance = api.workflows.clusters.get(number)?.instances.find(({ id }) => id === lost?.id);
    if (lost === undefined || instance === undefined) throw new Error('there is no worker');
    becomeEnding(instance, 'error', { code: 'GONE', text: 'it is gone', atMs: 0 });
    expect((await lost.report({})).status).toBe(200);
    api.clock.offsetMs += instanceTokenTtlMs / 2 + 1_000;
    expect((await lost.report({})).status).toBe(403);
    const renewed = await (await head.report({})).json();
    expect(renewed.token).toMatchObject({ instanceToken: expect.any(String) });
  });

  it('are not refused while an outage hides whether they are live', async () => {
    const api = await createTestApi();
    const { head } = await clusterWithWorkers(api, 1);
    api.clock.offsetMs += instanceTokenTtlMs / 2 + 1_000;
    api.workflows.control.isUnavailable = true;
    const answer = await head.report({});
    expect(answer.status).toBe(200);
  });

  it('get the scheduler address the moment it has started, all with one query', async () => {
    const api = await createTestApi();
    const { number, head, others } = await clusterWithWorkers(api, 10);
    const before = queriesOf(api, number);
    const waiting = Promise.all(others.map((worker) => worker.orders(1)));
    await expectHeld(waiting);
    expect(queriesOf(api, number) - before).toBeLessThanOrEqual(1);
    await head.report({ process: started('scheduler', schedulerAddress) });
    const answers = await Promise.all((await waiting).map((answer) => answer.json()));
    expect(answers).toHaveLength(10);
    for (const answer of answers) expect(answer).toMatchObject({ version: 2, schedulerAddress, stop: null });
    expect(queriesOf(api, number) - before).toBeLessThanOrEqual(1);
    expect(await (await head.orders()).json()).toMatchObject({ version: 2, schedulerAddress });
  });

  it('get an order to stop when the cluster stops or has ended', async () => {
    const api = await createTestApi();
    const { number, head } = await clusterWithWorkers(api, 0);
    const waiting = head.orders(1);
    await expectHeld(waiting);
    await api.call('POST', `/v1/clusters/${number}/stop`);
    expect((await (await waiting).json()).stop).toMatchObject({ code: 'STOPPED' });
    const { csrPem } = await createCsr();
    expect((await head.certificate(csrPem)).status).toBe(403);
    const { view } = await api.deps.views.cluster('default', number);
    await api.workflows.endCluster({ ...view, status: 'stopped', endedAtMs: api.now() });
    await api.deps.orders.round();
    expect((await (await head.orders(9)).json()).stop).toMatchObject({ code: 'CLUSTER_OVER' });
    const report = await (await head.report({ unansweredForMs: null })).json();
    expect(report).toMatchObject({ stop: { code: 'CLUSTER_OVER' }, orders: null });
  });

  it('drain through the head instance alone', async () => {
    const api = await createTestApi();
    const { number, head, others } = await clusterWithWorkers(api, 1);
    const [worker] = others;
    const state = api.workflows.clusters.get(number);
    const instance = state?.instances.find(({ id }) => id === worker?.id);
    if (!state?.dask || !instance?.agent || worker === undefined) throw new Error('there is no worker');
    instance.agent.drain = { id: 7, worker: 'w', deadlineMs: 0, adaptive: false, outcome: null };
    state.dask.ordersVersion += 1;
    const drain = [{ id: 7, worker: 'w', deadlineSeconds: 120 }];
    const process = { state: 'started', name: 'w', stage: 'dask', address: null, reason: null };
    expect((await (await head.report({ unansweredForMs: null })).json()).orders.drain).toEqual(drain);
    expect((await (await worker.report({ process })).json()).orders.drain).toEqual([]);
    const asked = [head.orders(1), worker.orders(1)];
    await Promise.all(asked.map((each) => expectHeld(each)));
    await api.deps.orders.round();
    const answers = await Promise.all(asked.map(async (each) => (await each).json()));
    expect(answers.map((each) => each.drain)).toEqual([drain, []]);
    const after = await (await head.report({ drained: [{ id: 7, outcome: 'drained' }] })).json();
    expect([after.orders.drain, instance.agent.drain.outcome]).toEqual([[], 'drained']);
  });

  it('get certificates with the role, name and address that their cluster has for them', async () => {
    const api = await createTestApi();
    const { head, others } = await clusterWithWorkers(api, 1);
    const { csrPem, keyPem } = await createCsr();
    for (const [instance, role] of [
      [head, 'scheduler'],
      [others[0], 'worker'],
    ] as const) {
      const answer = await (await instance?.certificate(csrPem))?.json();
      const leaf = new X509Certificate(answer.certificate);
      expect(leaf.subject).toBe(`CN=${instance?.id}\nOU=ropewalk ${role}`);
      expect(leaf.subjectAltName).toBe('IP Address:127.0.0.1');
      expect(leaf.verify(new X509Certificate(answer.ca).publicKey)).toBe(true);
    }
    expect(keyPem).toContain('PRIVATE KEY');
    const broken = await head.certificate(
      '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----',
    );
    expect(broken.status).toBe(422);
  });

  it('get no certificate unless they are live instances of their cluster', async () => {
    const api = await createTestApi();
    const { number, others } = await clusterWithWorkers(api, 1);
    const { csrPem: csr } = await createCsr();
    const claims = { workspace: 'default', cluster: number, job: null };
    const unknown = await api.tokens.mintInstance({ ...claims, instance: 'i_unknown0' });
    const refused = await api.call('POST', '/v1/agent/certificate', { token: unknown.instanceToken, body: { csr } });
    expect(refused.status).toBe(403);
    const instance = api.workflows.clusters.get(number)?.instances.find(({ id }) => id === others[0]?.id);
    if (instance !== undefined) instance.state = 'stopping';
    api.clock.offsetMs += 6_000;
    expect((await others[0]?.certificate(csr))?.status).toBe(403);
    const job = await api.submit({});
    const batch = await api.tokens.mintInstance({ ...claims, cluster: job, job, instance: 'i_batch000' });
    for (const [method, path, body] of [
      ['POST', 'certificate', { csr }],
      ['GET', 'orders', undefined],
    ] as const) {
      const request = { token: batch.instanceToken, ...(body === undefined ? {} : { body }) };
      expect((await api.call(method, `/v1/agent/${path}`, request)).status).toBe(403);
    }
  });

  it('need their own token, and a version that is a number', async () => {
    const api = await createTestApi();
    const { head } = await clusterWithWorkers(api, 0);
    for (const token of [null, api.token]) {
      expect((await api.call('GET', '/v1/agent/orders', { token })).status).toBe(401);
      expect((await api.call('POST', '/v1/agent/certificate', { token, body: { csr: 'x' } })).status).toBe(401);
    }
    const wrong = await api.call('GET', '/v1/agent/orders?seen=new', { token: head.token });
    expect((await wrong.json()).error.field).toBe('seen');
  });

  it('free their place when they stop waiting for orders, and get an answer when the API ends', async () => {
    const api = await createTestApi();
    const { head } = await clusterWithWorkers(api, 0);
    const left = new AbortController();
    const gone = head.orders(1, left.signal);
    await expectHeld(gone);
    left.abort();
    expect((await gone).status).toBe(200);
    const waiting = head.orders(1);
    await expectHeld(waiting);
    api.stopping.abort();
    expect(await (await waiting).json()).toMatchObject({ version: 1, stop: null });
  });
});
