// A control plane with two regions of EC2: the request chooses the region, and all its resources stay there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient, runJob } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { awsFile } from '../providers/aws-cloud.ts';
import { startEc2Stack } from '../support/ec2-stack.ts';
import type { Ec2Stack } from '../support/ec2-stack.ts';
import { eventually } from '../support/eventually.ts';

const { region: east, deployment, node, apiCa, ...place } = awsFile;
const west = 'us-west-2';
const inWest = { ...place, subnets: [{ id: `subnet-${west}a`, zone: `${west}a` }] };
const settings = { regions: { [east]: place, [west]: inWest }, defaultRegion: east, deployment, node, apiCa };

describe('on EC2 with two regions', () => {
  let ec2: Ec2Stack;
  let client: Client;
  beforeAll(async () => {
    ec2 = await startEc2Stack({ settings });
    client = createClient({ apiUrl: ec2.stack.apiUrl, token: ec2.stack.token });
  });
  afterAll(() => ec2?.stop());

  it.each([
    [{}, east],
    [{ region: west }, west],
  ])('a job with %j runs, prints and ends in %s', async (asked, region) => {
    const connection = { apiUrl: ec2.stack.apiUrl, token: ec2.stack.token };
    const job = await runJob({ ...connection, command: ['echo', 'hello'], vmTypes: ['m6i.large'], ...asked });
    expect([job.status, (await client.clusters.get(job.number)).region]).toEqual(['done', region]);
    const mine = (await ec2.emulator.instances()).filter(({ tags }) => tags['ropewalk:cluster'] === String(job.number));
    expect(mine.map(({ zone }) => zone.slice(0, -1))).toEqual([region]);
    await eventually(async () => {
      const lines: string[] = [];
      for await (const line of client.jobs.logs(job.number)) if (line.task !== null) lines.push(line.text);
      return lines.includes('hello') || null;
    });
    await eventually(async () => (await ec2.emulator.ledger()).live.length === 0);
  });
});
