// Machine options of the command line: the request, plans, and prices.
import { describe, expect, it } from 'vitest';

import type { Plan } from '../../sdk/client.ts';
import { callCli } from './call-cli.ts';
import { standIn } from './stand-in.ts';

const created = { number: 7, name: 'blue', existing: false, warnings: [] };
const type: Plan['head']['types'][number] = {
  ...{ type: 'm6i.xlarge', vcpus: 4, memoryBytes: 16 * 2 ** 30, architecture: 'x86_64', gpus: 0, gpuName: null },
  ...{ pricePerHour: 0.192, spotPricePerHour: 0.07, zones: ['us-east-1a', 'us-east-1b'] },
};
const plan: Plan = {
  ...{ provider: 'aws', region: 'us-east-1', zones: ['us-east-1a', 'us-east-1b'], allowCrossZone: false, diskGib: 30 },
  head: { count: 1, markets: ['on-demand'], types: [type], pricePerHour: { firstChoice: 0.192, max: 0.192 } },
  workers: {
    ...{ count: 10, markets: ['spot', 'on-demand'], pricePerHour: { firstChoice: 0.7, max: 1.92 } },
    types: [type, { ...type, type: 'g4dn.xlarge', gpus: 1, gpuName: 'T4', spotPricePerHour: null }],
  },
  pricePerHour: { firstChoice: 0.892, max: 2.112 },
  prices: [
    { market: 'on-demand', source: 'a table of us-east-1', asOf: '2026-07-20' },
    { market: 'spot', source: 'EC2', asOf: '2026-11-21T10:00:00.000Z' },
  ],
  warnings: ['memory: no\u001b[31m effect'],
};

async function send(words: string[], more: Record<string, string> = {}) {
  const { api, env } = await standIn(() => ({ status: 201, json: created }));
  return { ...(await callCli(words, { env: { ...env, ...more } })), body: api.requests[0]?.body };
}

const place = [
  ...['--provider', 'aws', '--region', 'us-west-2', '--zone', 'us-west-2a', '--arm', '--spot-policy', 'spot'],
  ...[
    '--tag',
    'project=climate',
    '--tag',
    'a=b=c',
    '--no-best-zone',
    '--wait-for-capacity',
    '6h',
    '--allow-ssh',
    '--allow-ssh-from',
    '203.0.113.0/24',
  ],
  ...['--allow-ingress-from', 'everyone', '--instance-credentials'],
];
const placed = {
  ...{ provider: 'aws', region: 'us-west-2', zone: 'us-west-2a', arm: true, spotPolicy: 'spot', useBestZone: false },
  tags: { project: 'climate', a: 'b=c' },
  ...{ waitForCapacity: '6h', allowSsh: true, allowSshFrom: '203.0.113.0/24', allowIngressFrom: 'everyone' },
  instanceCredentials: true,
};

describe('options about machines', () => {
  it('say why the own address is unknown, without the lines of the program', async () => {
    const env = { ROPEWALK_ADDRESS_URL: 'http://127.0.0.1:9/' };
    const words = ['batch', 'run', '--no-package-sync', '--allow-ssh-from', 'me', 'true'];
    const { code, stderr, body } = await send(words, env);
    expect([code, body]).toEqual([2, undefined]);
    expect(stderr).toContain(
      'error: The public address of this machine is unknown: http://127.0.0.1:9/ gave no address',
    );
    expect(stderr).not.toMatch(/ {4}at |ConfigurationError/);
  });

  it('of a cluster are sent as given', async () => {
    const words = [
      ...['--worker-vm-type', 'm6i.large,m5.large', '--worker-vm-type', 'c6i.large', '--worker-gpu', ...place],
      ...['--scheduler-cpu', '[2, 8]', '--scheduler-memory', '"8 GiB", 32GiB', '--allow-cross-zone'],
      ...['--scheduler-port', '9786', '--no-scheduler-public-ip', '--worker-gpu-type', 'T4', '--no-scheduler-gpu'],
      ...['--worker-disk-size', '100', '--worker-disk-throughput', '250', '--scheduler-disk-size', '50 GiB'],
    ];
    expect((await send(['cluster', 'create', ...words])).body).toEqual({
      ...{ workerVmTypes: ['m6i.large', 'm5.large', 'c6i.large'], workerGpu: true, ...placed, allowCrossZone: true },
      ...{ schedulerCpu: [2, 8], schedulerMemory: ['8 GiB', '32GiB'] },
      ...{ schedulerPort: 9786, useSchedulerPublicIp: false, workerGpuType: 'T4', schedulerGpu: false },
      ...{ workerDiskSize: '100', workerDiskThroughput: 250, schedulerDiskSize: '50 GiB' },
    });
    const others = [
      '--worker-cpu',
      '4',
      '--worker-memory',
      '16 GiB',
      '--worker-gpu',
      '1',
      '--scheduler-vm-type',
      'a.b',
    ];
    expect((await send(['cluster', 'create', ...others])).body).toEqual({
      ...{ workerCpu: 4, workerMemory: '16 GiB', workerGpu: 1, schedulerVmTypes: ['a.b'] },
    });
  });

  it('of a job are sent as given; options of the command stay in the command', async () => {
    const words = ['--vm-type', 'm6i.large', '--vm-type', 'm5.large', '--gpu', '--no-cross-zone', ...place];
    words.push('--scheduler-vm-type', 'm5.xlarge', '--disk-size', '100');
    expect((await send(['batch', 'run', ...words, 'train', '--cpu', '3'])).body).toEqual({
      ...{ command: ['train', '--cpu', '3'], vmTypes: ['m6i.large', 'm5.large'], gpu: true, ...placed },
      ...{ allowCrossZone: false, schedulerVmTypes: ['m5.xlarge'], diskSize: '100' },
    });
    expect((await send(['batch', 'run', '--cpu', '4-8', '--memory', '16GB-32GB', 'true'])).body).toEqual({
      ...{ command: ['true'], cpu: [4, 8], memory: ['16GB', '32GB'] },
    });
    expect((await send(['batch', 'run', '--cpu', '2,8', '--memory', '[8GB,64GB]', 'true'])).body).toEqual({
      ...{ command: ['true'], cpu: [2, 8], memory: ['8GB', '64GB'] },
    });
  });

  it.each([
    [['--worker-cpu', 'many'], 'Give a whole number, for example 4, or a range: 2,8'],
    [['--worker-cpu', '1,2,3'], 'the two ends of a range'],
    [['--worker-memory', ''], 'the two ends of a range'],
    [['--spot-policy', 'cheap'], 'Allowed choices are on-demand, spot, spot_with_fallback'],
    [['--worker-gpu', 'yes'], 'Give a number'],
    [['--plan', '--wait'], "'--plan' cannot be used with option '--wait"],
  ])('refuses %j', async (words, message) => {
    const { body, code, stdout, stderr } = await send(['cluster', 'create', ...words]);
    expect({ body, code, stdout }).toEqual({ body: undefined, code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('--plan', () => {
  it.each([
    [['cluster', 'create', '--workers', '10'], '/v1/plans/clusters', { workers: 10 }, 'scheduler'],
    [['batch', 'run', '--ntasks', '11', 'true'], '/v1/plans/jobs', { command: ['true'], ntasks: 11 }, 'head'],
  ])('of %j prints what would be launched and creates nothing', async (words, path, body, head) => {
    const { api, env } = await standIn(() => ({ json: plan }));
    const [noun = '', verb = '', ...rest] = words;
    const { code, stdout, stderr } = await callCli([noun, verb, '--plan', ...rest], { env });
    expect(code).toBe(0);
    expect(api.requests).toMatchObject([{ method: 'POST', path, body }]);
    expect(stderr).toBe('warning: memory: no effect\n');
    expect(stdout).toMatch(
      new RegExp(`${head} .*m6i\\.xlarge .*4 .*16\\.0 GiB .*0\\.1920 .*0\\.0700 .*us-east-1a, us-`),
    );
    expect(stdout).toMatch(/10 workers .*m6i\.xlarge(.|\n)*g4dn\.xlarge .*1 T4 .* - /);
    expect(stdout).toContain('Region:  us-east-1\n');
    expect(stdout).toContain('Zones:   us-east-1a, us-east-1b; all instances in one of them\n');
    expect(stdout).toContain(`Markets: ${head} on-demand; workers spot, then on-demand\n`);
    expect(stdout).toContain('Price:   $0.8920 per hour with the first choice, at most $2.11\n');
    expect(stdout).toContain(
      'on-demand from a table of us-east-1, 2026-07-20; spot from EC2, 2026-11-21T10:00:00.000Z',
    );
    expect(stdout).toContain('Nothing was launched.');
  });

  it('of a job of one instance names no workers', async () => {
    const one = { ...plan, workers: { ...plan.workers, count: 0, pricePerHour: { firstChoice: 0, max: 0 } } };
    const { env } = await standIn(() => ({ json: { ...one, pricePerHour: plan.head.pricePerHour } }));
    const { stdout } = await callCli(['batch', 'run', '--plan', 'true'], { env });
    expect(stdout).toContain('Price:   $0.1920 per hour\n         public addresses are included');
    expect(stdout).not.toContain('worker');
  });

  it('says when a provider has no prices, and prints JSON on request', async () => {
    const nothing = { firstChoice: 0, max: 0 };
    const local = { ...plan, provider: 'local', warnings: [], prices: [], pricePerHour: nothing };
    const { env } = await standIn(() => ({ json: local }));
    const { stdout } = await callCli(['cluster', 'create', '--plan'], { env });
    expect(stdout).toBe(
      'Would run 11 instances with the provider local, which has one kind of machine. It costs nothing.\n',
    );
    const { env: other } = await standIn(() => ({ json: plan }));
    const found = await callCli(['batch', 'run', '--plan', '--format', 'json', 'true'], { env: other });
    expect(JSON.parse(found.stdout)).toEqual(plan);
  });
});

it('a new job or cluster prints its price when the API returns one', async () => {
  const pricePerHour = { firstChoice: 1.5, max: 1.5 };
  const { env } = await standIn(() => ({ status: 201, json: { ...created, pricePerHour } }));
  expect((await callCli(['cluster', 'create'], { env })).stderr).toContain('Price:               $1.50 per hour\n');
  expect((await callCli(['batch', 'run', 'true'], { env })).stderr).toContain('Price:       $1.50 per hour\n');
  expect((await send(['cluster', 'create'])).stderr).not.toContain('Price');
});
