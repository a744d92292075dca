// `ropewalk instance-types`: the request, and the table.
import { expect, it } from 'vitest';

import type { InstanceType } from '../../sdk/client.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const types: InstanceType[] = [
  {
    type: 'g4dn.xlarge',
    provider: 'aws',
    vcpus: 4,
    memoryBytes: 16 * 2 ** 30,
    architecture: 'x86_64',
    gpus: 1,
    gpuName: 'T4',
    pricePerHour: 0.526,
    spotPricePerHour: null,
    zones: ['us-east-1a', 'us-east-1b'],
  },
];

it('sends its options, and prints sizes and prices', async () => {
  const { api, env } = await standIn(() => ({ json: { items: types } }));
  const args = ['--provider', 'aws', '--min-cpu', '4', '--max-memory', '32 GiB', '--gpu'];
  args.push('--region', 'us-east-1');
  const { code, stdout } = await callCli(['instance-types', ...args], { env });
  expect(code).toBe(0);
  expect(api.requests).toMatchObject([
    {
      path: '/v1/instance-types',
      query: { provider: 'aws', minCpu: '4', maxMemory: '32 GiB', gpu: 'true', region: 'us-east-1' },
    },
  ]);
  expect(stdout).toMatch(/g4dn\.xlarge.*4.*16\.0 GiB.*1 T4.*x86_64.*0\.5260.*-.*us-east-1a, us-east-1b/);
});

it('says when no type matches, and prints JSON on request', async () => {
  const { env } = await standIn(() => ({ json: { items: [] } }));
  expect((await callCli(['instance-types'], { env })).stdout).toBe('No instance type matches.\n');
  const { env: other } = await standIn(() => ({ json: { items: types } }));
  expect(JSON.parse((await callCli(['instance-types', '--format', 'json'], { env: other })).stdout)).toEqual(types);
});
