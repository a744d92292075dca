// Plans over a real HTTP server in place of the API: repeated after a lost answer.
import { expect, it } from 'vitest';

import { connect } from './open-stand-in.ts';

const plan = { provider: 'local', pricePerHour: { firstChoice: 0, max: 0 } };

it('a plan is requested from its own path with the body of the job or cluster, and is repeated after a lost answer', async () => {
  const { client, api } = await connect((_, nth) => (nth === 1 ? { ending: 'refuse' } : { json: plan }));
  expect(await client.clusters.plan({ workers: 2, workerCpu: [2, 8] })).toEqual(plan);
  expect(await client.jobs.plan({ command: ['true'], vmTypes: ['m6i.large'] })).toEqual(plan);
  const script = Buffer.alloc(100_000, 'x').toString('base64');
  const files = [
    { path: 'a.sh', content: script },
    { path: 'b.sh', content: 'eA==' },
  ];
  expect(await client.jobs.plan({ command: ['a.sh'], files })).toEqual(plan);
  expect(await client.clusters.plan()).toEqual(plan);
  const clusters = '/v1/plans/clusters';
  expect(api.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['POST', clusters, { workers: 2, workerCpu: [2, 8] }],
    ['POST', clusters, { workers: 2, workerCpu: [2, 8] }],
    ['POST', '/v1/plans/jobs', { command: ['true'], vmTypes: ['m6i.large'] }],
    // No more of a file than the server reads for its header.
    [
      'POST',
      '/v1/plans/jobs',
      { command: ['a.sh'], files: [{ path: 'a.sh', content: script.slice(0, 87_384) }, files[1]] },
    ],
    ['POST', clusters, {}],
  ]);
  expect(api.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(api.requests.map(() => undefined));
});
