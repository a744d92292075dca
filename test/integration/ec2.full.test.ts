// Jobs and clusters on EC2, end to end: the control plane as for a real account, the cloud emulated, its machines real agent
// processes. Costs and leaks are read from the cloud's own ledger.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DescribeLaunchTemplatesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient, runJob } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import {
  bothTasksRun,
  daskStarted,
  everyTaskPrinted,
  heldJob,
  printedBy,
  printingJob,
  workerReplaced,
} from '../support/cloud-jobs.ts';
import { startEc2Stack } from '../support/ec2-stack.ts';
import type { Ec2Stack } from '../support/ec2-stack.ts';
import { eventually } from '../support/eventually.ts';

describe('on EC2', () => {
  let ec2: Ec2Stack;
  let client: Client;
  let marks: string;
  beforeAll(async () => {
    ec2 = await startEc2Stack();
    client = createClient({ apiUrl: ec2.stack.apiUrl, token: ec2.stack.token });
    marks = await mkdtemp(join(tmpdir(), 'ropewalk-ec2-marks-'));
  });
  afterAll(async () => {
    await ec2?.stop();
    await rm(marks, { recursive: true, force: true });
  });

  const atRest = () => eventually(async () => (await ec2.emulator.ledger()).live.length === 0);
  const connection = () => ({ apiUrl: ec2.stack.apiUrl, token: ec2.stack.token });

  it('a job runs as planned, on as many instances, shows the output of its tasks, and leaves no cloud resource', async () => {
    const input = {
      ...printingJob(marks),
      vmTypes: ['m6i.large', 'm5.large'],
    };
    const plan = await client.jobs.plan(input);
    expect((await ec2.emulator.ledger()).entries).toEqual([]);
    const job = await runJob({ ...connection(), ...input });
    expect([job.status, job.tasks.done]).toEqual(['done', 6]);
    expect((await readdir(marks)).sort()).toEqual(['0', '1', '2', '3', '4', '5']);
    await atRest();
    const launched = (await ec2.emulator.ledger()).entries.filter(({ event }) => event === 'launched');
    expect(launched).toHaveLength(plan.head.count + plan.workers.count);
    expect(new Set(launched.map(({ type }) => type))).toEqual(new Set([plan.workers.types[0]?.type]));
    expect(new Set(launched.map(({ zone }) => zone)).size).toBe(1);
    const ingress = (await ec2.emulator.counts()).calls;
    expect([ingress['CreateSecurityGroup'], ingress['AuthorizeSecurityGroupIngress']]).toEqual([1, 1]);
    await eventually(
      async () => (await ec2.emulator.resources()).every(({ kind }) => kind !== 'security group') || null,
    );
    expect(await printedBy(client, job.number, /i-[0-9a-f]+/)).toEqual(everyTaskPrinted);
  });

  it('a lack of capacity takes the next type, and an instance that dies is replaced', async () => {
    for (const zone of ['a', 'b', 'c']) {
      await ec2.emulator.send({ op: 'capacity', pool: `m6i.large/us-east-1${zone}/on-demand`, instances: 1 });
    }
    const { number } = await client.jobs.create({
      ...heldJob(marks),
      vmTypes: ['m6i.large', 'm5.large'],
    });
    await bothTasksRun(client, number);
    const { live } = await ec2.emulator.ledger();
    const types = (await ec2.emulator.instances()).filter(({ id }) => live.includes(id)).map(({ type }) => type);
    expect(types.sort()).toEqual(['m5.large', 'm6i.large']);
    await ec2.emulator.send({ op: 'die', id: live[0] ?? '' });
    await eventually(async () => (await ec2.emulator.ledger()).live.some((id) => !live.includes(id)) || null);
    await bothTasksRun(client, number);
    await writeFile(join(marks, 'go'), '');
    const job = await client.jobs.wait(number);
    expect([job.status, job.tasks.done]).toEqual(['done', 2]);
    await atRest();
  });

  it('a job waits for capacity for its waitForCapacity: it runs when there is some, and ends when there is none', async () => {
    const pools = ['a', 'b', 'c'].map((zone) => `m7i.large/us-east-1${zone}/on-demand`);
    for (const pool of pools) await ec2.emulator.send({ op: 'capacity', pool, instances: 0 });
    const create = (waitForCapacity: string) =>
      client.jobs.create({ command: ['true'], vmTypes: ['m7i.large'], waitForCapacity });
    const [brief, patient] = [await create('3 s'), await create('1 h')];
    const over = await client.jobs.wait(brief.number);
    expect([over.status, over.reason?.code]).toEqual(['error', 'NO_INSTANCES']);
    expect(over.reason?.text).toMatch(/InsufficientInstanceCapacity/);
    const waiting = await eventually(async () => {
      const seen = await client.clusters.get(patient.number);
      return seen.waitingForCapacity === null ? null : seen;
    });
    expect([waiting.status, waiting.launched, waiting.waitingForCapacity?.missing]).toEqual(['starting', 0, 1]);
    expect(waiting.waitingForCapacity?.text).toMatch(/1 of 1 instances are unavailable now; .*InsufficientInstance/);
    expect(waiting.events.map(({ code }) => code)).toContain('WAITING_FOR_CAPACITY');
    for (const pool of pools) await ec2.emulator.send({ op: 'capacity', pool, instances: null });
    expect((await client.jobs.wait(patient.number)).status).toBe('done');
    await atRest();
  });

  it('a job that could get no instance leaves no launch template', async () => {
    for (const zone of ['a', 'b', 'c']) {
      await ec2.emulator.send({ op: 'capacity', pool: `r6i.large/us-east-1${zone}/on-demand`, instances: 0 });
    }
    // Otherwise the failed try would delete its template.
    const fault = {
      action: 'DeleteLaunchTemplate',
      kind: 'error',
      code: 'UnauthorizedOperation',
      status: 403,
    } as const;
    await ec2.emulator.send({ op: 'fault', fault });
    const { number } = await client.jobs.create({ command: ['true'], vmTypes: ['r6i.large'] });
    const cloud = new EC2Client({
      ...{ endpoint: ec2.emulator.url, region: 'us-east-1' },
      credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'test' },
    });
    const templates = async (): Promise<number> => {
      const Filters = [{ Name: 'tag:ropewalk:cluster', Values: [String(number)] }];
      return (await cloud.send(new DescribeLaunchTemplatesCommand({ Filters }))).LaunchTemplates?.length ?? 0;
    };
    await eventually(async () => (await templates()) > 0);
    await client.jobs.cancel(number);
    await eventually(async () => (await client.clusters.get(number)).endedAt !== null);
    expect(await templates()).toBe(0);
  });

  it('a Dask cluster starts over mutual TLS between the addresses of its machines, and replaces an interrupted one', async () => {
    const { number } = await client.clusters.create({
      workers: 2,
      spotPolicy: 'spot',
      workerVmTypes: ['m5.large', 'm6i.large'],
      schedulerVmTypes: ['t3.large'],
    });
    const cluster = await daskStarted(client, number);
    expect(cluster.dask?.schedulerAddress).toMatch(/^tls:\/\/127\.77\./);
    for (const { stages = [] } of cluster.instances) {
      expect(stages.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['requested', 'launched', 'agent', 'dask']),
      );
      const times = stages.map(({ at }) => Date.parse(at));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
    const { live } = await ec2.emulator.ledger();
    const types = (await ec2.emulator.instances()).filter(({ id }) => live.includes(id)).map(({ type }) => type);
    expect(types.filter((type) => type === 't3.large')).toHaveLength(1);
    const worker = (await ec2.emulator.instances()).find(({ id, market }) => live.includes(id) && market === 'spot');
    await ec2.emulator.send({ op: 'interrupt', id: worker?.id ?? '', inMs: 40_000 });
    await workerReplaced(client, number, worker?.id ?? '');
    expect((await client.clusters.get(number)).events.map(({ code }) => code)).toContain('SPOT_INTERRUPTED');
    const { entries } = await ec2.emulator.ledger();
    const ended = entries.findIndex(({ event, id }) => event === 'ended' && id === worker?.id);
    const successors = entries.slice(0, ended).filter(({ event, id }) => event === 'launched' && !live.includes(id));
    expect(successors.filter(({ tags }) => tags['ropewalk:cluster'] === String(number))).toHaveLength(1);
    await client.clusters.stop(number);
    await atRest();
  });
});
