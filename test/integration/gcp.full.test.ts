// Jobs and clusters on Compute Engine, end to end: the control plane as for a real project, the cloud emulated, its machines real
// agent processes. Costs and leaks are read from the cloud's own ledger.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
import { eventually } from '../support/eventually.ts';
import { startGcpStack } from '../support/gcp-stack.ts';
import type { GcpStack } from '../support/gcp-stack.ts';

describe('on Compute Engine', () => {
  let gcp: GcpStack;
  let client: Client;
  let marks: string;
  beforeAll(async () => {
    gcp = await startGcpStack();
    client = createClient({ apiUrl: gcp.stack.apiUrl, token: gcp.stack.token });
    marks = await mkdtemp(join(tmpdir(), 'ropewalk-gcp-marks-'));
  });
  afterAll(async () => {
    await gcp?.stop();
    await rm(marks, { recursive: true, force: true });
  });

  /** No instance exists, on or off. */
  const atRest = () => eventually(async () => (await gcp.emulator.ledger()).existing.length === 0 || null);
  const connection = () => ({ apiUrl: gcp.stack.apiUrl, token: gcp.stack.token });

  it('a job runs as planned, its lines come from Cloud Logging, and nothing is left', async () => {
    const input = {
      ...printingJob(marks),
      vmTypes: ['n2-standard-2', 'n2d-standard-2'],
    };
    const plan = await client.jobs.plan(input);
    expect((await gcp.emulator.ledger()).entries).toEqual([]);
    const job = await runJob({ ...connection(), ...input });
    expect([job.status, job.tasks.done]).toEqual(['done', 6]);
    expect((await readdir(marks)).sort()).toEqual(['0', '1', '2', '3', '4', '5']);
    await atRest();
    const launched = (await gcp.emulator.ledger()).entries.filter(({ event }) => event === 'launched');
    expect(launched).toHaveLength(plan.head.count + plan.workers.count);
    expect(new Set(launched.map(({ zone }) => zone)).size).toBe(1);
    // The cluster's last write, after its last instance has ended, has the costs of all of them.
    const cost = await eventually(async () => {
      const { items } = await client.costs.read({ by: 'job' });
      return items.find(({ key, instances }) => key === String(job.number) && instances === launched.length);
    });
    expect(cost.dollars).toBeGreaterThan(0);
    const { calls } = await gcp.emulator.counts();
    expect(calls['firewalls.insert']).toBe(1);
    await eventually(async () => (await gcp.emulator.resources()).firewalls.length === 0 || null);
    expect(await printedBy(client, job.number, /rw-[0-9a-f-]+/)).toEqual(everyTaskPrinted);
  });

  it('an instance whose host fails is replaced and deleted, also its disk', async () => {
    const { number } = await client.jobs.create({
      ...heldJob(marks),
      vmTypes: ['n2-standard-2'],
    });
    await bothTasksRun(client, number);
    const { live } = await gcp.emulator.ledger();
    await gcp.emulator.send({ op: 'die', id: live[0] ?? '' });
    await eventually(async () => (await gcp.emulator.ledger()).live.some((name) => !live.includes(name)) || null);
    await bothTasksRun(client, number);
    await writeFile(join(marks, 'go'), '');
    const job = await client.jobs.wait(number);
    expect([job.status, job.tasks.done]).toEqual(['done', 2]);
    await atRest();
  });

  it('a Dask cluster starts on spot workers, and replaces one that is preempted', async () => {
    const { number } = await client.clusters.create({
      workers: 2,
      spotPolicy: 'spot',
      // The type of an interrupted instance counts as unavailable for minutes.
      workerVmTypes: ['n2-standard-2', 'n2d-standard-2'],
      schedulerVmTypes: ['e2-standard-2'],
    });
    const cluster = await daskStarted(client, number);
    expect(cluster.dask?.schedulerAddress).toMatch(/^tls:\/\/127\.87\./);
    const { live } = await gcp.emulator.ledger();
    const spot = (await gcp.emulator.instances()).find(({ name, market }) => live.includes(name) && market === 'spot');
    await gcp.emulator.send({ op: 'interrupt', id: spot?.name ?? '' });
    await workerReplaced(client, number, spot?.name ?? '');
    expect((await client.clusters.get(number)).events.map(({ code }) => code)).toContain('SPOT_INTERRUPTED');
    await client.clusters.stop(number);
    await atRest();
  });
});
