// The requested configuration of a cluster or job over HTTP: without secrets, also after its end.
import { expect, it } from 'vitest';

import type { Configuration } from '../../schema/configuration.ts';
import { cloudApi } from './cloud.ts';
import { createTestApi, type TestApi } from './support.ts';

async function read(api: TestApi, path: string): Promise<Configuration> {
  const reply = await api.call('GET', `/v1/${path}/configuration`);
  expect(reply.status).toBe(200);
  return reply.json();
}

it('of a cluster on a cloud: its types in order, limits and packages, without passwords and values of variables', async () => {
  const api = await cloudApi();
  const number = await api.startCluster({
    ...{ workers: 2, workerVmTypes: ['m6i.large'], schedulerVmTypes: ['m5.large'], spotPolicy: 'spot' },
    ...{ tags: { team: 'ml' }, idleTimeout: '30m', maxCost: 12.5, env: { REGION: 'secret-value' } },
    software: {
      requirements: ['pandas==2.3.1', 'ours @ https://me:secret-value@example.com/ours-1.whl'],
      python: '3.12',
    },
  });
  const answer = await read(api, `clusters/${number}`);
  expect(answer).toMatchObject({
    ...{ number, instances: 3 },
    machines: { workerTypes: ['m6i.large'], headTypes: ['m5.large'], spotPolicy: 'spot', tags: { team: 'ml' } },
    limits: { maxCostDollars: 12.5, idleTimeoutSeconds: 1_800, jobTimeoutSeconds: null, retries: null },
    software: { kind: 'environment', python: '3.12', environmentVariables: ['REGION'], jupyter: false },
  });
  expect(answer.software?.requirements).toContain('pandas==2.3.1');
  expect(JSON.stringify(answer)).not.toContain('secret-value');
});

it('of a job, and of the cluster that runs its tasks; after its end without its software', async () => {
  const api = await createTestApi();
  const number = await api.submit({ command: ['true'], retries: 2, jobTimeout: '1h', taskTimeout: '5m' });
  const answer = await read(api, `jobs/${number}`);
  expect(answer).toMatchObject({
    machines: null,
    limits: { jobTimeoutSeconds: 3_600, taskTimeoutSeconds: 300, retries: 2, idleTimeoutSeconds: null },
    software: { kind: 'host', image: null, requirements: [] },
  });
  expect(await read(api, `clusters/${number}`)).toEqual(answer);
  const spec = await api.deps.views.endedJobSpec('default', number);
  await api.deps.vault.delete(spec?.bundleRef ?? '');
  expect(await read(api, `jobs/${number}`)).toMatchObject({ limits: { retries: 2 }, software: null });
});

it('says which clusters have Jupyter', async () => {
  const api = await createTestApi();
  const number = await api.startCluster({ workers: 1, jupyter: true });
  expect(await read(api, `clusters/${number}`)).toMatchObject({ software: { jupyter: true } });
});
