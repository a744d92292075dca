import { describe, expect, it } from 'vitest';

import { instanceTokenTtlMs } from '../../domain/tokens/limits.ts';
import { createTestApi, endedView, launch, type TestApi } from './support.ts';

const head = 'i_head0000';
const worker = 'i_worker00';
const boot = (id: string) => `boot-of-${id}-0000000000`;

async function register(api: TestApi, number: number, id: string, bootId = boot(id)): Promise<Response> {
  const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: number, seq: 1 });
  const body = { instance: id, bootId, address: `127.0.0.1:${id === head ? 1 : 2}`, version: '0.1.0', pid: 42 };
  return api.call('POST', '/v1/agent/register', { token, body });
}

async function jobWithAgents(api: TestApi, body: object = { ntasks: 3 }) {
  const number = await api.submit(body);
  launch(api, number, head);
  launch(api, number, worker, 1);
  const answers = [await register(api, number, head), await register(api, number, worker)];
  const [headToken, workerToken] = await Promise.all(
    answers.map(async (answer) => (await answer.json()).instanceToken),
  );
  return { number, headToken: String(headToken), workerToken: String(workerToken) };
}

const exchange = (api: TestApi, token: string, body: object) =>
  api.call('POST', '/v1/agent/exchange', {
    token,
    body: { claim: 1, want: 0, running: [], results: [], head: true, ...body },
  });

describe('agents', () => {
  it('register once per instance; another process with the same token is refused', async () => {
    const api = await createTestApi();
    const number = await api.submit({ name: 'nightly' });
    launch(api, number, head);
    const answer = await register(api, number, head);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ cluster: { number, name: 'nightly' }, job: number, role: 'head' });
    expect((await register(api, number, head)).status).toBe(200);
    expect((await register(api, number, head, 'another-boot-0000000')).status).toBe(403);
    expect((await register(api, number, 'i_unknown0')).status).toBe(403);
    api.workflows.clusters.get(number)?.launches.push({ seq: 2, slots: [5], atMs: api.now() });
    const early = await register(api, number, 'i_unknown0');
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    api.workflows.forget(`cluster/${number}`);
    expect((await register(api, number, head)).status).toBe(404);
  });

  it('register with the token of their own launch, again as the same process, and no answer to people names that process', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    launch(api, number, head);
    const body = { instance: head, bootId: boot(head), address: '127.0.0.1:1', version: '0.1.0', pid: 42 };
    const registerBy = async (seq: number): Promise<number> => {
      const token = await api.tokens.mintLaunch({ workspace: 'default', cluster: number, seq });
      return (await api.call('POST', '/v1/agent/register', { token, body })).status;
    };
    expect(await registerBy(2)).toBe(403);
    expect(await registerBy(1)).toBe(200);
    // The answer was lost. A caller that knows the number of the process already has the token.
    expect([await registerBy(1), await registerBy(2)]).toEqual([200, 403]);
    for (const kind of ['jobs', 'clusters']) {
      for (const part of ['', '/at', '/events', '/why', '/logs']) {
        const answer = await api.call('GET', `/v1/${kind}/${number}${part}`);
        expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining(boot(head))]);
      }
    }
  });

  it('trade results for leases, and learn of their cluster with a grant', async () => {
    const api = await createTestApi();
    const { number, headToken } = await jobWithAgents(api);
    const granted = await (await exchange(api, headToken, { want: 1 })).json();
    expect(granted).toMatchObject({
      grants: [{ lease: 1, task: 0, taskId: 0, attempt: 1 }],
      taskCount: 3,
      schedulerAddress: '127.0.0.1:1',
      readyWorkers: ['127.0.0.1:2'],
      stop: null,
      token: null,
    });
    const again = await (await exchange(api, headToken, { want: 1 })).json();
    expect(again.grants).toEqual(granted.grants);
    const seen = { want: 1, addressesSeen: granted.addresses };
    const named = await (await exchange(api, headToken, seen)).json();
    expect(named).toMatchObject({
      grants: granted.grants,
      addresses: granted.addresses,
      readyWorkers: [],
      taskCount: 3,
    });
    const other = await (await exchange(api, headToken, { ...seen, addressesSeen: 'of another time' })).json();
    expect(other.readyWorkers).toEqual(['127.0.0.1:2']);
    const result = {
      lease: 1,
      task: 0,
      attempt: 1,
      exitCode: 0,
      signal: null,
      startedAtMs: 1,
      endedAtMs: 2,
      reason: null,
    };
    const ended = await (await exchange(api, headToken, { results: [result] })).json();
    expect(ended).toMatchObject({ acknowledged: [1], grants: [], readyWorkers: [], taskCount: 0 });
    expect(api.workflows.jobs.get(number)?.counters.done).toBe(1);
    const unknown = await exchange(api, headToken, { results: [{ ...result, colour: 'red' }] });
    expect((await unknown.json()).error.field).toBe('results.0.colour');
  });

  it('share one update when they come together', async () => {
    const api = await createTestApi();
    const { number, headToken, workerToken } = await jobWithAgents(api);
    const answers = await Promise.all([exchange(api, headToken, { want: 1 }), exchange(api, workerToken, { want: 1 })]);
    const grants = (await Promise.all(answers.map((answer) => answer.json()))).map(({ grants: [grant] }) => grant.task);
    expect(new Set(grants)).toEqual(new Set([0, 1]));
    expect(api.workflows.calls.filter((call) => call === `update job/${number} job.exchange`)).toHaveLength(1);
  });

  it('get an order to stop when their job or cluster has ended', async () => {
    const api = await createTestApi();
    const { number, headToken } = await jobWithAgents(api);
    api.workflows.close(`job/${number}`, { result: null });
    const exchanged = await exchange(api, headToken, { want: 1 });
    expect([exchanged.status, (await exchanged.json()).stop]).toEqual([
      200,
      { code: 'JOB_OVER', text: `Job ${number} has ended.` },
    ]);
    const report = { kind: 'alive', bootId: boot(head), address: 'a' };
    const alive = await api.call('POST', '/v1/agent/report', { token: headToken, body: report });
    expect(await alive.json()).toEqual({ stop: null, orders: null, token: null });
    api.workflows.forget(`cluster/${number}`);
    const leaving = { ...report, kind: 'leaving' };
    const late = await api.call('POST', '/v1/agent/report', { token: headToken, body: leaving });
    expect((await late.json()).stop).toMatchObject({ code: 'CLUSTER_OVER' });
  });

  it('get a new token with an answer after half the lifetime of theirs', async () => {
    const api = await createTestApi();
    const { headToken } = await jobWithAgents(api);
    api.clock.offsetMs += instanceTokenTtlMs / 2 + 1_000;
    const { token } = await (await exchange(api, headToken, { want: 1 })).json();
    expect(Date.parse(token.expiresAt)).toBeGreaterThan(api.now() + instanceTokenTtlMs - 5_000);
    expect(await (await exchange(api, token.instanceToken, {})).json()).toMatchObject({ token: null });
    api.clock.offsetMs += instanceTokenTtlMs / 2;
    expect((await exchange(api, headToken, {})).status).toBe(401);
    expect((await exchange(api, token.instanceToken, {})).status).toBe(200);
  });

  it('fetch the bundle of their own job, and of no other', async () => {
    const api = await createTestApi();
    const { number, headToken } = await jobWithAgents(api, { command: ['echo', 'x'], secretEnv: { A: 'b' } });
    const answer = await api.call('GET', '/v1/agent/bundle', { token: headToken });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({
      runtime: { kind: 'host' },
      command: ['echo', 'x'],
      env: { A: 'b' },
      secretNames: ['A'],
      inputs: null,
      taskCount: null,
      taskTimeoutMs: null,
      hostSetupScript: null,
      gpuIdleAfterMs: null,
      files: [],
      inputFiles: [],
      output: null,
    });
    const claims = { cluster: number, instance: head };
    const foreign = await api.tokens.mintInstance({ ...claims, workspace: 'other', job: number });
    expect((await api.call('GET', '/v1/agent/bundle', { token: foreign.instanceToken })).status).toBe(404);
    const jobless = await api.tokens.mintInstance({ ...claims, workspace: 'default', job: null });
    expect((await api.call('GET', '/v1/agent/bundle', { token: jobless.instanceToken })).status).toBe(404);
    expect((await exchange(api, jobless.instanceToken, { want: 1 })).status).toBe(403);
  });

  it('of a job or cluster get its bundle for 397 days, and then an error that names its age, not an end', async () => {
    const api = await createTestApi();
    const job = await api.submit({ jobTimeout: '397 days' });
    const cluster = await api.startCluster();
    for (const number of [job, cluster]) launch(api, number, head);
    const ask = async (number: number, isJob: boolean) => {
      const claims = { workspace: 'default', cluster: number, job: isJob ? number : null, instance: head };
      const { instanceToken: token } = await api.tokens.mintInstance(claims);
      const answer = await api.call('GET', '/v1/agent/bundle', { token });
      return [answer.status, await answer.text()];
    };
    api.clock.offsetMs += 397 * 86_400_000 - 60_000;
    expect((await ask(job, true))[0]).toBe(200);
    expect((await ask(cluster, false))[0]).toBe(200);
    api.clock.offsetMs += 60_000;
    expect(await ask(job, true)).toEqual([410, expect.stringContaining('This job is open for more than 397 days')]);
    expect(await ask(cluster, false)).toEqual([410, expect.stringContaining('This cluster is open')]);
    await api.workflows.endJob(endedView(api, job));
    api.clock.offsetMs += 60_000;
    expect(await ask(job, true)).toEqual([404, expect.stringContaining('the job has ended')]);
  });

  it('get 503 with Retry-After while Temporal or, for their bundle, the database is unavailable', async () => {
    const api = await createTestApi();
    const { headToken: token } = await jobWithAgents(api);
    expect((await api.call('GET', '/v1/agent/bundle', { token })).status).toBe(200);
    api.workflows.control.isUnavailable = true;
    const answer = await exchange(api, token, { want: 1 });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    api.database.isUnavailable = true;
    const bundle = await api.call('GET', '/v1/agent/bundle', { token });
    expect([bundle.status, bundle.headers.get('retry-after')]).toEqual([503, '1']);
    api.database.isUnavailable = false;
    expect((await api.call('GET', '/v1/agent/bundle', { token })).status).toBe(200);
  });

  it('are heard when they register while their cluster does not answer: the cluster does not replace them', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    launch(api, number, head);
    api.workflows.control.isUnavailable = true;
    expect((await register(api, number, head)).status).toBe(503);
    expect(api.deps.heard.takeDue().items).toMatchObject([{ cluster: number, instance: head }]);
  });

  it('work on while the database is unavailable', async () => {
    const api = await createTestApi();
    const { headToken } = await jobWithAgents(api);
    api.database.isUnavailable = true;
    api.workflows.control.isProjecting = false;
    const granted = await (await exchange(api, headToken, { want: 1 })).json();
    expect(granted).toMatchObject({ grants: [{ task: 0 }], taskCount: 3, schedulerAddress: '127.0.0.1:1' });
    const report = { kind: 'alive', bootId: boot(head), address: 'a' };
    expect((await api.call('POST', '/v1/agent/report', { token: headToken, body: report })).status).toBe(200);
  });
});
