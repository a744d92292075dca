// The sweep on EC2: the schedule that `dev` and `init` make for it, with instances, volumes and launch templates of every
// kind of owner. The oracle is what the cloud itself says is there.
import { join } from 'node:path';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { sweepScheduleId } from '../../contracts/sweep.ts';
import type { SeenResource } from '../emulator/resources.ts';
import { runCli } from '../cli/run-cli.ts';
import { type Ec2Stack, startEc2Stack } from '../support/ec2-stack.ts';
import { eventually } from '../support/eventually.ts';
import { read } from '../support/kills.ts';

const hourMs = 3_600_000;
const kinds = ['instance', 'volume', 'launch template'] as const;

describe('the sweep on EC2', () => {
  let ec2: Ec2Stack;
  let client: Client;
  let connection: Connection;
  let temporal: TemporalClient;
  let own = '';
  beforeAll(async () => {
    ec2 = await startEc2Stack({ machines: false, overrides: { sweep: { everySeconds: 1, graceSeconds: 2 } } });
    const { apiUrl, token, home, temporalAddress, namespace } = ec2.stack;
    client = createClient({ apiUrl, token });
    own = z.object({ deploymentId: z.string() }).parse(read(join(home, 'host.json'))).deploymentId;
    connection = await Connection.connect({ address: temporalAddress });
    temporal = new TemporalClient({ connection, namespace });
  });
  afterAll(async () => {
    await connection?.close();
    await ec2?.stop();
  });

  /** One of each kind wanted. */
  async function plant(cluster: number, ageMs: number, deploymentId = own, wanted = [...kinds]): Promise<string[]> {
    const tags = {
      'ropewalk:deployment': deploymentId,
      'ropewalk:workspace': 'default',
      'ropewalk:cluster': String(cluster),
    };
    return Promise.all(wanted.map((kind) => ec2.emulator.plant({ kind, tags, ageMs })));
  }
  const job = (): Promise<{ number: number }> =>
    client.jobs.create({ command: ['sleep', '600'], vmTypes: ['m6i.large'] });
  const live = async (): Promise<string[]> => (await ec2.emulator.ledger()).live;
  const there = async (): Promise<string[]> => [
    ...(await live()),
    ...(await ec2.emulator.resources()).map(({ id }) => id),
  ];
  const sweepsTaken = async (): Promise<number> =>
    (await temporal.schedule.getHandle(sweepScheduleId('provider/aws/us-east-1')).describe()).info.numActionsTaken;

  it('deletes the orphans of each kind, and leaves owned, foreign, young and untagged resources alone', async () => {
    const owned = await job();
    const launched = await eventually(async () => ((await live()).length === 1 ? live() : null));
    const closed = await job();
    await eventually(async () => (await live()).length === 2);
    await client.jobs.cancel(closed.number);
    await eventually(
      async () =>
        (await temporal.workflow.getHandle(clusterWorkflowId(closed.number)).describe()).status.name === 'COMPLETED',
    );

    const orphans = [...(await plant(closed.number, hourMs)), ...(await plant(987_654, hourMs))];
    // Its volume stays behind when it is ended, and is then an orphan of its own.
    await ec2.emulator.send({ op: 'keepVolume', id: orphans[0] ?? '' });
    const claimed = await plant(owned.number, hourMs);
    const young = [...(await plant(987_655, -hourMs)), ...(await plant(987_656, 0, own, kinds.slice(1)))];
    const foreign = await plant(987_654, hourMs, 'dep_other');
    const strange = await ec2.emulator.plant({ kind: 'volume', tags: { Name: 'a database' }, ageMs: hourMs });
    const others = [...launched, ...claimed, ...young, ...foreign, strange];
    expect(await there()).toEqual(expect.arrayContaining([...orphans, ...others]));

    await eventually(async () => (await there()).every((id) => !orphans.includes(id)), { timeoutMs: 90_000 });
    const isOfClosed = ({ tags }: SeenResource): boolean => tags['ropewalk:cluster'] === String(closed.number);
    await eventually(async () => !(await ec2.emulator.resources()).some(isOfClosed));
    expect((await ec2.emulator.counts()).calls['DeleteVolume']).toBeGreaterThanOrEqual(3);
    // They had no mercy of timing: several more sweeps see them and leave them.
    const taken = await sweepsTaken();
    await eventually(async () => (await sweepsTaken()) >= taken + 4);
    expect(await there()).toEqual(expect.arrayContaining(others));

    const { code, stdout } = await runCli(['sweep', '--dry-run', '--format', 'json'], {
      env: { ROPEWALK_HOME: ec2.stack.home },
    });
    const verdicts = new Map(
      reports.parse(JSON.parse(stdout)).flatMap((report) => report.verdicts.map(({ id, verdict }) => [id, verdict])),
    );
    expect(code).toBe(0);
    expect([...claimed, ...launched].map((id) => verdicts.get(id))).toEqual(['owned', 'owned', 'owned', 'owned']);
    // While an instance of a cluster is there, nothing else of it is judged further.
    expect(young.map((id) => verdicts.get(id))).toEqual(['young', 'needed', 'needed', 'young', 'young']);
    expect([...foreign, strange].map((id) => verdicts.get(id))).toEqual([undefined, undefined, undefined, undefined]);
  });
});

const reports = z.array(z.object({ verdicts: z.array(z.object({ id: z.string(), verdict: z.string() })) }));
