// `ropewalk instance-types`: what is asked of the API, and how the answer looks.
import { expect, it } from 'vitest';

import type { InstanceType } from '../../sdk/client.ts';
import { runCli } from './run-cli.ts';
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

it('asks for what its options say, and shows sizes and prices', async () => {
  const { api, env } = await standIn(() => ({ json: { items: types } }));
  const args = ['--provider', 'aws', '--min-cpu', '4', '--max-memory', '32 GiB', '--gpu'];
  args.push('--region', 'us-east-1');
  const { code, stdout } = await runCli(['instance-types', ...args], { env });
  expect(code).toBe(0);
  expect(api.asked).toMatchObject([
    {
      path: '/v1/instance-types',
      query: { provider: 'aws', minCpu: '4', maxMemory: '32 GiB', gpu: 'true', region: 'us-east-1' },
    },
  ]);
  expect(stdout).toMatch(/g4dn\.xlarge.*4.*16\.0 GiB.*1 T4.*x86_64.*0\.5260.*-.*us-east-1a, us-east-1b/);
});

it('says when nothing matches, and answers programs in JSON', async () => {
  const { env } = await standIn(() => ({ json: { items: [] } }));
  expect((await runCli(['instance-types'], { env })).stdout).toBe('Nothing matches.\n');
  const { env: other } = await standIn(() => ({ json: { items: types } }));
  expect(JSON.parse((await runCli(['instance-types', '--format', 'json'], { env: other })).stdout)).toEqual(types);
});
