import { X509Certificate } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { createTestApi, type TestApi } from './support.ts';

const stored = (api: TestApi) => api.objects.keys().filter((key) => /^(specs|vault)\//.test(key));
const errorOf = async (response: Response) => (await response.json()).error;
const textOf = async (api: TestApi, key: string) => Buffer.from((await api.objects.get(key)) ?? []).toString();
const signalsTo = (api: TestApi, number: number) =>
  api.workflows.calls.filter((call) => call.startsWith(`signal cluster/${number} `)).map((call) => call.split('.')[1]);

describe('starting a Dask cluster', () => {
  it.each(['-ca.sealed', '.json'])('leaves nothing sealed behind when its %s cannot be written', async (end) => {
    const api = await createTestApi();
    const sound = { ...api.objects };
    api.objects.put = async (key, bytes) => {
      if (/^(specs|vault)\//.test(key) && key.endsWith(end)) throw new Error('the disk is full');
      await sound.put(key, bytes);
    };
    expect((await api.call('POST', '/v1/clusters', { body: { workers: 1 } })).status).toBe(500);
    expect(stored(api)).toEqual([]);
  });

  it('seals bundle and authority, writes a spec without a secret, and answers the number', async () => {
    const api = await createTestApi();
    const body = {
      name: 'analysis',
      workers: 2,
      software: { requirements: ['dask==2026.8.0', 'private @ https://u:requirement-pw@example.com/p.whl'] },
      env: { MODE: 'fast' },
      secretEnv: { PASSWORD: 'swordfish' },
      workerOptions: { nthreads: 2, resources: { token: 'option-pw' } },
      noClientTimeout: '2 minutes',
      lease: '9 seconds',
      privateToCreator: true,
    };
    const response = await api.call('POST', '/v1/clusters', { body });
    expect([response.status, response.headers.get('location')]).toEqual([201, '/v1/clusters/1']);
    expect(await response.json()).toEqual({ number: 1, name: 'analysis', existing: false, warnings: [] });
    const [specKey = '', caKey = '', bundleKey = ''] = stored(api);
    const spec = JSON.parse(await textOf(api, specKey));
    expect(spec).toMatchObject({
      bundleRef: bundleKey,
      caRef: caKey,
      settings: {
        instances: 3,
        providerQueue: 'local/host1',
        dask: {
          idleTimeoutMs: 1_200_000,
          noClientTimeoutMs: 120_000,
          startTimeoutMs: 600_000,
          maxLifetimeMs: null,
          drainTimeoutMs: 120_000,
          aliveEveryMs: 3_000,
          unresponsiveTimeoutMs: 1_200_000,
          privateToCreator: true,
        },
      },
    });
    const visible = [api.logged.join(), ...(await Promise.all(stored(api).map((key) => textOf(api, key))))].join();
    for (const secret of ['swordfish', 'requirement-pw', 'option-pw', 'PRIVATE KEY']) {
      expect(visible).not.toContain(secret);
    }
    const bundle = JSON.parse(Buffer.from((await api.vault.open(bundleKey)) ?? []).toString());
    expect(bundle).toEqual({
      runtime: { kind: 'environment', ...environment(body.software.requirements) },
      env: { MODE: 'fast', PASSWORD: 'swordfish' },
      hostSetupScript: null,
      workerClass: null,
      workerOptions: body.workerOptions,
      schedulerClass: null,
      schedulerOptions: {},
      aliveEveryMs: 3_000,
      unresponsiveTimeoutMs: 1_200_000,
      schedulerPort: 0,
      usage: ['groups', 'exceptions', 'memory'],
      jupyterToken: null,
      workersPerMachine: 2,
      shareMachine: true,
      workersPerInstance: 1,
      extraWorkerOnScheduler: false,
      gpuIdleAfterMs: null,
    });
    const ca = JSON.parse(Buffer.from((await api.vault.open(caKey)) ?? []).toString());
    const certificate = new X509Certificate(ca.certificatePem);
    expect([certificate.ca, certificate.subject]).toEqual([true, 'CN=analysis\nOU=ropewalk cluster']);
    expect(await api.usage()).toEqual({ running: 1, instances: 3, vcpus: 3 });
  });

  it('keeps what is sealed for as long as the authority is valid: workers may come late', async () => {
    const api = await createTestApi();
    await api.call('POST', '/v1/clusters', { body: {} });
    api.clock.offsetMs += 396 * 86_400_000;
    const [, caKey = '', bundleKey = ''] = stored(api);
    expect(await Promise.all([api.vault.open(caKey), api.vault.open(bundleKey)])).not.toContain(null);
  });

  it('answers the open one of the same name unless getOrCreate is false, and leaves nothing of the second request', async () => {
    const api = await createTestApi();
    await api.startCluster({ name: 'shared' });
    const again = await api.call('POST', '/v1/clusters', { body: { name: 'shared', workers: 9 } });
    expect([again.status, await again.json()]).toMatchObject([200, { number: 1, existing: true }]);
    const taken = await api.call('POST', '/v1/clusters', { body: { name: 'shared', getOrCreate: false } });
    expect([taken.status, (await errorOf(taken)).code]).toEqual([409, 'NAME_TAKEN']);
    expect(stored(api)).toHaveLength(3);
    const once = { body: { workers: 1 }, headers: { 'idempotency-key': 'once' } };
    const [first, repeated] = [
      await api.call('POST', '/v1/clusters', once),
      await api.call('POST', '/v1/clusters', once),
    ];
    expect([first.status, repeated.status]).toEqual([201, 200]);
    expect((await repeated.json()).number).toBe((await first.json()).number);
    expect(stored(api)).toHaveLength(6);
  });

  it('names the field at fault, never its value, and writes nothing', async () => {
    const api = await createTestApi();
    for (const [body, field] of [
      [{ software: { requirements: ['dask', '--index-url=https://u:hunter2@x'] } }, 'software.requirements.1'],
      [{ software: { requirements: [' -e hunter2'] } }, 'software.requirements.0'],
      [{ software: { requirements: ['dask\n-r hunter2'] } }, 'software.requirements.0'],
      [{ software: { requirements: ['dask\u2028hunter2'] } }, 'software.requirements.0'],
      [{ software: { requirements: ['dask', 'x @ git+https://hunter2@host/x.git'] } }, 'software.requirements.1'],
      [{ software: { requirements: ['dask \\'] } }, 'software.requirements.0'],
      [{ software: { requirements: ['x @ https://${hunter2}'] } }, 'software.requirements.0'],
      [{ software: { requirements: ['/hunter2.whl'] } }, 'software.requirements.0'],
      [{ workerOptions: { security: 'hunter2' } }, 'workerOptions.security'],
      [{ schedulerOptions: { idle_timeout: 'hunter2' } }, 'schedulerOptions.idle_timeout'],
      [{ workerClass: '--hunter2' }, 'workerClass'],
      [{ schedulerClass: 'hunter2' }, 'schedulerClass'],
      [{ secretEnv: { ROPEWALK_X: 'hunter2' } }, 'secretEnv.ROPEWALK_X'],
      [{ env: { X: 'hunter2\0' } }, 'env.X'],
      [{ idleTimeout: '0 s' }, 'idleTimeout'],
      [{ maxLifetime: '5 lightyears' }, 'maxLifetime'],
      [{ maxLifetime: '398 days' }, 'maxLifetime'],
      [{ startTimeout: '20 years' }, 'startTimeout'],
      [{ lease: '10 ms' }, 'lease'],
      [{ workers: -1 }, 'workers'],
      [{ colour: 'hunter2' }, 'colour'],
    ] as const) {
      const response = await api.call('POST', '/v1/clusters', { body });
      const error = await errorOf(response);
      expect([response.status, error.code, error.field]).toEqual([422, 'VALIDATION', field]);
      expect(JSON.stringify(error)).not.toContain('hunter2');
    }
    expect(stored(api)).toEqual([]);
  });

  it('warns when this machine has few cores for so many instances', async () => {
    const api = await createTestApi({ cores: 2 });
    const warnings = async (workers: number) =>
      (await (await api.call('POST', '/v1/clusters', { body: { workers } })).json()).warnings;
    expect(await warnings(3)).toEqual([]);
    expect(await warnings(4)).toEqual([expect.stringContaining('all 5 instances')]);
  });

  it('reads as pending, with what was asked for, until its workflow has read the spec', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    await api.call('POST', '/v1/clusters', { body: { name: 'soon', workers: 3 } });
    api.workflows.control.isUnavailable = false;
    const cluster = await (await api.call('GET', '/v1/clusters/1')).json();
    expect(cluster).toMatchObject({ status: 'pending', name: 'soon', job: null, target: 4, provider: 'local' });
    expect(cluster.dask).toEqual({
      schedulerAddress: null,
      workersWanted: 3,
      workersStarted: 0,
      workersErrored: 0,
      tasks: null,
      clients: null,
      usage: null,
      idleSince: null,
      unresponsiveSince: null,
      adaptive: null,
    });
    const early = await api.call('POST', '/v1/clusters/1/scale', { body: { workers: 1 } });
    expect([early.status, (await errorOf(early)).code, early.headers.get('retry-after')]).toEqual([
      503,
      'NOT_YET',
      '1',
    ]);
  });
});

describe('changing a Dask cluster', () => {
  it('scales to workers and the one instance of the scheduler', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ workers: 1 });
    const response = await api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 5 } });
    expect([response.status, await response.json()]).toMatchObject([202, { target: 6, dask: { workersWanted: 5 } }]);
    await api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers: 0 } });
    expect(api.workflows.clusters.get(number)?.target).toBe(1);
  });

  it('turns adaptive scaling on with both bounds, off with none', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const adapt = (body: object) => api.call('POST', `/v1/clusters/${number}/adapt`, { body });
    const defaults = { targetDurationSeconds: 180, waitCount: 24, intervalSeconds: 5 };
    const adaptiveOf = async (body: object) => (await (await adapt(body)).json()).dask.adaptive;
    expect(await adaptiveOf({ minimum: 1, maximum: 8 })).toEqual({ minimum: 1, maximum: 8, ...defaults });
    const other = { minimum: 1, maximum: 8, targetDuration: '5s', waitCount: 3, interval: '500 ms' };
    expect(await adaptiveOf(other)).toMatchObject({ targetDurationSeconds: 5, waitCount: 3, intervalSeconds: 0.5 });
    for (const [body, field] of [
      [{ minimum: 1 }, 'maximum'],
      [{ maximum: 1 }, 'minimum'],
      [{ minimum: 3, maximum: 2 }, 'maximum'],
      [{ minimum: 1, maximum: 2, interval: '1 ms' }, 'interval'],
      [{ minimum: 1, maximum: 2, targetDuration: 'long' }, 'targetDuration'],
    ] as const) {
      expect((await errorOf(await adapt(body))).field).toBe(field);
    }
    expect((await (await adapt({})).json()).dask.adaptive).toBeNull();
  });

  it('starts with a range of workers, by default one that is bounded by the cores that they share', async () => {
    const api = await createTestApi();
    const started = async (body: object) => {
      const { number } = await (await api.call('POST', '/v1/clusters', { body })).json();
      const { settings } = api.workflows.clusters.get(number) ?? {};
      return [settings?.instances, settings?.dask?.adaptive?.minimum, settings?.dask?.adaptive?.maximum];
    };
    expect(await started({ workers: [2, 7] })).toEqual([3, 2, 7]);
    expect(await api.usage()).toMatchObject({ instances: 8 });
    expect(await started({ workers: 3 })).toEqual([4, undefined, undefined]);
    const [instances, minimum, maximum = 0] = await started({});
    expect([instances, minimum, maximum >= 4 && maximum <= 20]).toEqual([5, 4, true]);
    const refused = await api.call('POST', '/v1/clusters', { body: { workers: [7, 2] } });
    expect((await errorOf(refused)).field).toBe('workers');
  });

  it('signals a keepalive to the cluster when it changes a timeout or time has passed', async () => {
    const api = await createTestApi();
    const number = await api.startCluster();
    const keep = async (body: object) => (await api.call('POST', `/v1/clusters/${number}/keepalive`, { body })).status;
    const count = () => signalsTo(api, number).filter((name) => name === 'keepalive').length;
    expect([await keep({}), await keep({}), count()]).toEqual([202, 202, 1]);
    expect([await keep({ timeout: '2 minutes' }), await keep({ timeout: 120 }), count()]).toEqual([202, 202, 2]);
    expect(api.workflows.clusters.get(number)?.settings.dask?.noClientTimeoutMs).toBe(120_000);
    api.clock.offsetMs += 29_000;
    expect([await keep({ timeout: 120 }), count()]).toEqual([202, 2]);
    api.clock.offsetMs += 1_001;
    expect([await keep({ timeout: 120 }), count()]).toEqual([202, 3]);
    expect(await keep({ timeout: 'soon' })).toBe(422);
  });

  it('never spares a keepalive for long when the cluster ends after a short silence', async () => {
    const api = await createTestApi();
    const number = await api.startCluster({ noClientTimeout: '9 s' });
    const keep = (body: object) => api.call('POST', `/v1/clusters/${number}/keepalive`, { body });
    const count = () => signalsTo(api, number).filter((name) => name === 'keepalive').length;
    await keep({});
    api.clock.offsetMs += 2_000;
    await keep({});
    expect(count()).toBe(1);
    api.clock.offsetMs += 1_001;
    await keep({});
    expect(count()).toBe(2);
    await keep({ timeout: '3 s' });
    api.clock.offsetMs += 1_001;
    await keep({ timeout: '3 s' });
    expect(count()).toBe(4);
  });

  it("is refused for a job's cluster, and once it stops or has ended; another workspace's does not exist", async () => {
    const api = await createTestApi();
    const [stranger, reader] = [await api.addToken('other'), await api.addToken('default', ['read'])];
    const job = await api.submit({});
    const number = await api.startCluster();
    const requests = [
      ['POST', 'scale', { workers: 1 }],
      ['POST', 'adapt', { minimum: 0, maximum: 1 }],
      ['POST', 'keepalive', {}],
      ['GET', 'credentials', undefined],
    ] as const;
    const codes = (of: number, token = api.token) =>
      Promise.all(
        requests.map(async ([method, verb, body]) => {
          const request = { token, ...(body === undefined ? {} : { body }) };
          return (await errorOf(await api.call(method, `/v1/clusters/${of}/${verb}`, request))).code;
        }),
      );
    const all = (code: string) => requests.map(() => code);
    expect(await codes(job)).toEqual(all('CONFLICT'));
    expect(await codes(number, stranger)).toEqual(all('NOT_FOUND'));
    expect(await codes(number, reader)).toEqual(all('FORBIDDEN'));
    await api.call('POST', `/v1/clusters/${number}/stop`);
    expect(await codes(number)).toEqual(all('CONFLICT'));
    const final = await (await api.call('GET', `/v1/clusters/${number}`)).json();
    expect(final).toMatchObject({ status: 'stopping', reason: { code: 'STOPPED' } });
    expect(signalsTo(api, number)).toEqual(['stop']);
    const { view } = await api.deps.views.cluster('default', number);
    await api.workflows.endCluster({ ...view, status: 'stopped', endedAtMs: api.now() });
    api.clock.offsetMs += 2_000;
    expect(await codes(number)).toEqual(all('CONFLICT'));
  });
});
