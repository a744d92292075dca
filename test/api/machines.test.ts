// Machines over HTTP: the offers, the result of a request for a cluster on EC2, and the refusals before an admission.
import { describe, expect, it } from 'vitest';

import { clusterSpec } from '../../schema/cluster-spec.ts';
import { jobSpec } from '../../schema/job-spec.ts';
import { cloudApi, zones } from './cloud.ts';
import { createTestApi, type TestApi } from './support.ts';

async function specOf(api: TestApi, kind: 'cluster' | 'job') {
  const keys = await api.objects.list('specs', { limit: 10 });
  const key = keys.at(-1) ?? '';
  const text = Buffer.from((await api.objects.get(key)) ?? new Uint8Array()).toString();
  return kind === 'cluster' ? clusterSpec.parse(JSON.parse(text)).settings : jobSpec.parse(JSON.parse(text)).settings;
}

describe('instance types', () => {
  it('are listed from cheap to dear, with both prices, as filtered', async () => {
    const api = await cloudApi();
    const reply = await api.call(
      'GET',
      '/v1/instance-types?minCpu=4&maxCpu=4&minMemory=16%20GiB&maxMemory=16%20GiB&prefix=m',
    );
    expect(reply.status).toBe(200);
    const { items } = await reply.json();
    expect(items.length).toBeGreaterThan(3);
    for (const item of items)
      expect(item).toMatchObject({ vcpus: 4, memoryBytes: 16 * 2 ** 30, zones, provider: 'aws' });
    const prices: number[] = items.map((item: { pricePerHour: number }) => item.pricePerHour);
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
    expect(items[0].spotPricePerHour).toBeCloseTo(items[0].pricePerHour / 3);
  });

  it('are this machine where there is no cloud, and an unknown cloud is named', async () => {
    const api = await createTestApi();
    const { items } = await (await api.call('GET', '/v1/instance-types')).json();
    expect(items).toMatchObject([{ type: 'local', provider: 'local', pricePerHour: 0 }]);
    const refused = await api.call('GET', '/v1/instance-types?provider=aws');
    expect([refused.status, (await refused.json()).error.field]).toEqual([422, 'provider']);
  });
});

describe('a cluster on EC2', () => {
  it('carries the machines that were chosen, and counts their vCPUs', async () => {
    const api = await cloudApi();
    const body = {
      workers: 3,
      workerCpu: [2, 4],
      workerMemory: '16 GiB',
      spotPolicy: 'spot_with_fallback',
      workerDiskSize: '100 GiB',
      workerDiskThroughput: 500,
      schedulerDiskSize: 40,
      useBestZone: false,
      tags: { project: 'climate', 'cost centre': 'a/b' },
    };
    expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
    const settings = await specOf(api, 'cluster');
    expect(settings).toMatchObject({ provider: 'aws', providerQueue: 'provider/aws/us-east-1', instances: 4 });
    expect(settings.machines).toMatchObject({
      spotPolicy: 'spot_with_fallback',
      zones: zones.slice(0, 1),
      allowCrossZone: false,
      diskGib: 100,
      headDiskGib: 40,
      workerDiskThroughput: 500,
      tags: { project: 'climate', 'cost centre': 'a/b' },
    });
    expect(settings.machines?.headTypes).toEqual(expect.arrayContaining(['m6i.xlarge']));
    expect(settings.instanceVcpus).toBe(4);
  });

  it('takes a number alone for GiB of disk, as the header of a script has it', async () => {
    const api = await cloudApi();
    const body = { workers: 1, workerDiskSize: '120' };
    expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
    expect((await specOf(api, 'cluster')).machines?.diskGib).toBe(120);
  });

  it('carries how long it waits for capacity, in whatever unit it was said', async () => {
    const api = await cloudApi();
    expect((await api.call('POST', '/v1/clusters', { body: { workers: 1, waitForCapacity: '6h' } })).status).toBe(201);
    expect((await specOf(api, 'cluster')).machines?.waitForCapacityMs).toBe(6 * 3_600_000);
    const plain = await cloudApi();
    expect((await plain.call('POST', '/v1/clusters', { body: { workers: 1 } })).status).toBe(201);
    expect((await specOf(plain, 'cluster')).machines).not.toHaveProperty('waitForCapacityMs');
  });

  it('carries who may reach its head instance, as firewalls write it', async () => {
    const api = await cloudApi();
    const body = { workers: 1, allowIngressFrom: '203.0.113.77/24', allowSshFrom: 'everyone' };
    expect((await api.call('POST', '/v1/clusters', { body })).status).toBe(201);
    expect((await specOf(api, 'cluster')).machines?.ingress).toEqual({
      scheduler: { port: 8786, from: ['203.0.113.0/24'] },
      ssh: ['0.0.0.0/0', '::/0'],
    });
    const plain = await cloudApi();
    expect((await plain.call('POST', '/v1/jobs', { body: { command: ['true'] } })).status).toBe(201);
    expect((await specOf(plain, 'job')).machines).not.toHaveProperty('ingress');
  });

  it('opens the requested port of the scheduler, and warns when no ingress rule opens it', async () => {
    const api = await cloudApi();
    const warningsOf = async (body: object): Promise<string[]> => {
      const reply = await (await api.call('POST', '/v1/clusters', { body })).json();
      return reply.warnings;
    };
    expect(await warningsOf({ schedulerPort: 9000, allowIngressFrom: '10.0.0.0/8' })).toEqual([]);
    expect((await specOf(api, 'cluster')).machines?.ingress?.scheduler).toEqual({ port: 9000, from: ['10.0.0.0/8'] });
    expect(await warningsOf({ schedulerPort: 9000 })).toEqual([
      expect.stringContaining('port 9000 is open only as far'),
    ]);
    expect(await warningsOf({ schedulerPort: 8786 })).toEqual([]);
    const host = await createTestApi();
    const onHost = await host.call('POST', '/v1/clusters', { body: { schedulerPort: 9000 } });
    expect((await onHost.json()).warnings).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['clusters', { workerGpu: 1 }, 'workerGpu'],
    ['clusters', { schedulerVmTypes: ['g4dn.xlarge'] }, 'schedulerVmTypes'],
    ['clusters', { workerVmTypes: ['g4dn.xlarge'] }, 'workerGpu'],
    ['jobs', { command: ['true'], gpu: true }, 'gpu'],
  ])('%s %j get no GPU without a driver for it, and a larger disk with one', async (kind, body, field) => {
    const reply = await (await cloudApi()).call('POST', `/v1/${kind}`, { body });
    const { error } = await reply.json();
    expect([reply.status, error.field, error.hint]).toEqual([422, field, expect.stringContaining('gpuImage')]);
    const api = await cloudApi('aws', { hasGpuDriver: true });
    expect((await api.call('POST', `/v1/${kind}`, { body })).status).toBe(201);
    expect((await specOf(api, kind === 'jobs' ? 'job' : 'cluster')).machines?.diskGib).toBe(120);
  });

  it('has GPUs of the type that is named, and one for its scheduler unless that is declined', async () => {
    const typesOf = async (body: object) => {
      const api = await cloudApi('aws', { hasGpuDriver: true });
      expect((await api.call('POST', '/v1/clusters', { body: { workers: 1, ...body } })).status).toBe(201);
      return (await specOf(api, 'cluster')).machines;
    };
    for (const workerGpuType of ['nvidia-tesla-t4', 'T4']) {
      const machines = await typesOf({ workerGpuType });
      expect(machines?.workerTypes.every((type) => type.startsWith('g4dn.'))).toBe(true);
      expect(machines?.headTypes.every((type) => /^(g|p)/.test(type))).toBe(true);
    }
    expect((await typesOf({ workerGpu: true, schedulerGpu: false }))?.headTypes).toContain('m6i.xlarge');
    expect((await typesOf({ schedulerGpu: true }))?.workerTypes).toContain('m6i.xlarge');
  });

  it('passes the tags of a job to its instances too', async () => {
    const api = await cloudApi();
    const body = { command: ['true'], tags: { project: 'climate' } };
    expect((await api.call('POST', '/v1/jobs', { body })).status).toBe(201);
    expect((await specOf(api, 'job')).machines?.tags).toEqual({ project: 'climate' });
  });

  it.each<[object, string]>([
    [{ schedulerPort: 22 }, 'schedulerPort'],
    [{ allowIngressFrom: 'me' }, 'allowIngressFrom'],
    [{ allowSsh: false, allowSshFrom: 'everyone' }, 'allowSsh'],
    [{ waitForCapacity: 'long' }, 'waitForCapacity'],
    [{ waitForCapacity: '40 days' }, 'waitForCapacity'],
    [{ workerCpu: 1, workerMemory: '32 GiB' }, 'workerCpu'],
    [{ workerVmTypes: ['m6i.huge'] }, 'workerVmTypes'],
    [{ workerVmTypes: ['m6i.large'], workerCpu: 2 }, 'workerVmTypes'],
    [{ workerVmTypes: ['m6g.large'], schedulerVmTypes: ['m6i.large'] }, 'schedulerVmTypes'],
    [{ workerVmTypes: ['m6i.large'], arm: true }, 'workerVmTypes'],
    [{ zone: 'eu-west-1a' }, 'zone'],
    [{ workerDiskSize: '1 GiB' }, 'workerDiskSize'],
    [{ schedulerDiskSize: 1 }, 'schedulerDiskSize'],
    [{ workerDiskThroughput: 4 }, 'workerDiskThroughput'],
    [{ tags: { 'aws:owner': 'me' } }, 'tags'],
    [{ tags: { Name: 'mine' } }, 'tags'],
    [{ tags: { a: '<b>' } }, 'tags'],
    [{ workerGpuType: 'h900' }, 'workerGpuType'],
    [{ workerGpu: 2 }, 'workerGpu'],
    [{ spotPolicy: 'cheap' }, 'spotPolicy'],
  ])('%j is refused, naming %s, and nothing is left behind', async (body, field) => {
    const api = await cloudApi();
    const before = await api.objects.list('', { limit: 100 });
    const reply = await api.call('POST', '/v1/clusters', { body: { workers: 1, ...body } });
    expect([reply.status, (await reply.json()).error.field]).toEqual([422, field]);
    expect(await api.objects.list('', { limit: 100 })).toEqual(before);
  });

  it('is refused by name where there is no account, and warned of where machines make no difference', async () => {
    const api = await createTestApi();
    const refused = await api.call('POST', '/v1/clusters', { body: { workers: 1, provider: 'aws' } });
    expect([refused.status, (await refused.json()).error.field]).toEqual([422, 'provider']);
    const made = await api.call('POST', '/v1/clusters', { body: { workers: 1, workerCpu: 2 } });
    expect((await made.json()).warnings).toEqual([expect.stringMatching(/^workerCpu has no effect here/)]);
    const body = { command: ['true'], vmTypes: ['m6i.large'], zone: 'us-east-1a', provider: 'local' };
    const job = await api.call('POST', '/v1/jobs', { body });
    expect((await job.json()).warnings).toEqual([expect.stringMatching(/^vmTypes, zone have no effect here/)]);
  });
});

describe('a job on EC2', () => {
  it('reads its machines from the request, from options and from the header of its script, in this order', async () => {
    const api = await cloudApi();
    const script = Buffer.from(
      '#!/bin/sh\n# ROPEWALK vm-type c6i.large\n# ROPEWALK spot-policy spot\n# ROPEWALK ntasks 50\ntrue\n',
    );
    const body = {
      command: ['sh', 'run.sh'],
      files: [{ path: 'run.sh', content: script.toString('base64') }],
      options: { 'vm-type': 'm6i.large' },
      vmTypes: ['r6i.large'],
    };
    const reply = await api.call('POST', '/v1/jobs', { body });
    expect([reply.status, (await reply.json()).warnings]).toEqual([201, []]);
    const settings = await specOf(api, 'job');
    // More than this machine's own limit.
    expect(settings).toMatchObject({ provider: 'aws', instances: 50 });
    expect(settings.machines).toMatchObject({
      workerTypes: ['r6i.large'],
      headTypes: ['r6i.large'],
      spotPolicy: 'spot',
    });
  });

  it('has a head instance of another type where that is asked for, by header too', async () => {
    const api = await cloudApi();
    const script = '#!/bin/sh\n# ROPEWALK scheduler-vm-type m5.large\n# ROPEWALK zone us-east-1b\n# ROPEWALK cpu 8\n';
    const files = [{ path: 'run.sh', content: Buffer.from(script).toString('base64') }];
    const reply = await api.call('POST', '/v1/jobs', { body: { command: ['sh', 'run.sh'], files, ntasks: 2 } });
    expect([reply.status, (await reply.json()).warnings]).toEqual([201, []]);
    const { machines } = await specOf(api, 'job');
    expect(machines).toMatchObject({ headTypes: ['m5.large'], zones: ['us-east-1b'] });
    expect(machines?.workerTypes).toContain('m6i.2xlarge');
  });
});

describe('the limit of vCPUs', () => {
  const types = { vmTypes: ['m7i.large'], schedulerVmTypes: ['m7i.48xlarge'] };
  const setUp = async (vcpus: number) => {
    const api = await cloudApi();
    await api.setLimits({ vcpus });
    const cluster = (workers: number) =>
      api.call('POST', '/v1/clusters', {
        body: { workers, workerVmTypes: types.vmTypes, schedulerVmTypes: types.schedulerVmTypes },
      });
    const scale = (number: number, workers: number) =>
      api.call('POST', `/v1/clusters/${number}/scale`, { body: { workers } });
    return { api, cluster, scale };
  };

  it('holds for the head instance of a cluster, and of a job, by its own type', async () => {
    const { api, cluster } = await setUp(16);
    const job = { command: ['true'], ntasks: 2, ...types };
    for (const answer of [await cluster(1), await api.call('POST', '/v1/jobs', { body: job })]) {
      expect([answer.status, await answer.json()]).toMatchObject([429, { error: { code: 'LIMIT_EXCEEDED' } }]);
    }
    expect(await api.usage()).toMatchObject({ running: 0, vcpus: 0 });
    await api.setLimits({ vcpus: 400 });
    expect((await cluster(3)).status).toBe(201);
    expect(await api.usage()).toEqual({ running: 1, instances: 4, vcpus: 192 + 3 * 2 });
    expect((await api.call('POST', '/v1/jobs', { body: job })).status).toBe(201);
    expect(await api.usage()).toEqual({ running: 2, instances: 4 + 2, vcpus: 2 * 192 + 4 * 2 });
  });

  it('counts workers as workers when a cluster grows, from none too, and when it shrinks', async () => {
    const { api, cluster, scale } = await setUp(200);
    const { number } = await (await cluster(0)).json();
    expect(await api.usage()).toMatchObject({ instances: 1, vcpus: 192 });
    expect((await scale(number, 5)).status).toBe(429);
    expect((await scale(number, 4)).status).toBe(202);
    expect(await api.usage()).toMatchObject({ instances: 5, vcpus: 200 });
    expect((await scale(number, 0)).status).toBe(202);
    expect(await api.usage()).toMatchObject({ instances: 1, vcpus: 192 });
  });
});
