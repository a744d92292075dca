// Instances of a Dask cluster that call the API of a test.
import { launch, type TestApi } from './support.ts';

export const started = (name: string, address: string | null) => ({
  state: 'started',
  name,
  stage: 'dask',
  address,
  reason: null,
});

/** Launched and registered: slot 0 is the head instance. */
export async function createDaskInstance(api: TestApi, number: number, slot: number, workspace = 'default') {
  const id = `i_dask${number}0slot${slot}`;
  const bootId = `boot-of-${id}-0000000000`;
  const address = '127.0.0.1';
  launch(api, number, id, slot);
  const launchToken = await api.tokens.mintLaunch({ workspace, cluster: number, seq: 1 });
  const body = { instance: id, bootId, address, version: '0.1.0', pid: 42 };
  const registered = await (await api.call('POST', '/v1/agent/register', { token: launchToken, body })).json();
  const token = String(registered.instanceToken);
  return {
    id,
    token,
    registered,
    report: (changes: object) =>
      api.call('POST', '/v1/agent/report', { token, body: { kind: 'alive', bootId, address, ...changes } }),
    orders: (seen?: number, signal?: AbortSignal) =>
      api.call('GET', `/v1/agent/orders${seen === undefined ? '' : `?seen=${seen}`}`, {
        token,
        ...(signal === undefined ? {} : { signal }),
      }),
    certificate: (csr: string) => api.call('POST', '/v1/agent/certificate', { token, body: { csr } }),
    bundle: () => api.call('GET', '/v1/agent/bundle', { token }),
  };
}

export async function clusterWithWorkers(api: TestApi, workers: number) {
  const number = await api.startCluster({ workers, secretEnv: { PASSWORD: 'swordfish' } });
  const head = await createDaskInstance(api, number, 0);
  const others = await Promise.all(
    Array.from({ length: workers }, (_, index) => createDaskInstance(api, number, index + 1)),
  );
  return { number, head, others };
}
