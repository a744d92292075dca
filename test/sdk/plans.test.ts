// Plans over a real HTTP server that stands in for the API: asked for again after a lost answer, and nothing else.
import { expect, it } from 'vitest';

import { connect } from './open-stand-in.ts';

const plan = { provider: 'local', pricePerHour: { firstChoice: 0, max: 0 } };

it('a plan is asked of its own path, with the body of what it is for, and may be asked twice', async () => {
  const { client, api } = await connect((_, nth) => (nth === 1 ? { ending: 'refuse' } : { json: plan }));
  expect(await client.clusters.plan({ workers: 2, workerCpu: [2, 8] })).toEqual(plan);
  expect(await client.jobs.plan({ command: ['true'], vmTypes: ['m6i.large'] })).toEqual(plan);
  expect(await client.clusters.plan()).toEqual(plan);
  const clusters = '/v1/plans/clusters';
  expect(api.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['POST', clusters, { workers: 2, workerCpu: [2, 8] }],
    ['POST', clusters, { workers: 2, workerCpu: [2, 8] }],
    ['POST', '/v1/plans/jobs', { command: ['true'], vmTypes: ['m6i.large'] }],
    ['POST', clusters, {}],
  ]);
  expect(api.asked.map(({ headers }) => headers['idempotency-key'])).toEqual(api.asked.map(() => undefined));
});
