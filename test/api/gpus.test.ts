// Idle GPUs, from the report of an agent to the views of users.
import { expect, it } from 'vitest';

import { idleGpuAfterMs } from '../../domain/gpu-use.ts';
import { createDaskInstance } from './dask-support.ts';
import { createTestApi } from './support.ts';

it('agents watch the GPUs that were asked for, and what they report is in the cluster, its events and why', async () => {
  const api = await createTestApi();
  const plain = await api.startCluster({ workers: 1 });
  const asked = await (await createDaskInstance(api, plain, 0)).bundle();
  expect((await asked.json()).gpuIdleAfterMs).toBeNull();
  const number = await api.startCluster({ workers: 1, workerGpu: 1 });
  const head = await createDaskInstance(api, number, 0);
  expect((await (await head.bundle()).json()).gpuIdleAfterMs).toBe(idleGpuAfterMs);
  const worker = await createDaskInstance(api, number, 1);
  expect((await worker.report({ gpus: { total: 2, idle: 1, idleForMs: idleGpuAfterMs } })).status).toBe(200);
  api.clock.offsetMs += 1_001;
  const cluster = await (await api.call('GET', `/v1/clusters/${number}`)).json();
  expect(cluster.gpus).toEqual({ total: 2, idle: 1, idleSince: expect.any(String) });
  expect(cluster.events.map(({ code }: { code: string }) => code)).toContain('IDLE_GPU');
  const { sentences } = await (await api.call('GET', `/v1/clusters/${number}/why`)).json();
  expect(sentences.map(({ text }: { text: string }) => text)).toContainEqual(
    expect.stringMatching(/^1 of 2 GPUs has done nothing since /),
  );
  const bad = await worker.report({ gpus: { total: -1, idle: 0, idleForMs: 0 } });
  expect((await bad.json()).error.field).toBe('gpus.total');
});
