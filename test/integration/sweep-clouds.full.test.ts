// The sweep of a cloud: the schedule that `dev` and `init` create for it, with instances, volumes and other resources of every
// kind of owner. The oracle is the cloud's own list.
import { join } from 'node:path';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { sweepScheduleId } from '../../contracts/sweep.ts';
import { runCli } from '../cli/run-cli.ts';
import { plantedKinds } from '../support/cloud-sides.ts';
import { startCloudStack } from '../support/cloud-stacks.ts';
import type { CloudStack } from '../support/cloud-stacks.ts';
import { clouds } from '../support/clouds.ts';
import { eventually } from '../support/eventually.ts';
import { read } from '../support/kills.ts';

const hourMs = 3_600_000;

describe.each(clouds)('the sweep on $title', (tested) => {
  let cloud: CloudStack;
  let client: Client;
  let connection: Connection;
  let temporal: TemporalClient;
  let own = '';
  beforeAll(async () => {
    const sweep = { everySeconds: 1, graceSeconds: 2 };
    cloud = await startCloudStack(tested, { machines: false, overrides: { sweep } });
    const { apiUrl, token, home, temporalAddress, namespace } = cloud.stack;
    client = createClient({ apiUrl, token });
    own = z.object({ deploymentId: z.string() }).parse(read(join(home, 'host.json'))).deploymentId;
    connection = await Connection.connect({ address: temporalAddress });
    temporal = new TemporalClient({ connection, namespace });
  });
  afterAll(async () => {
    await connection?.close();
    await cloud?.stop();
  });

  /** One resource of each wanted kind. */
  async function plant(
    cluster: number,
    ageMs: number,
    deploymentId = own,
    kinds: readonly (typeof plantedKinds)[number][] = plantedKinds,
  ): Promise<string[]> {
    const owner = { deploymentId, workspace: 'default', cluster };
    return Promise.all(kinds.map((kind) => cloud.plant(kind, owner, ageMs)));
  }
  const job = (): Promise<{ number: number }> =>
    client.jobs.create({ command: ['sleep', '600'], vmTypes: [tested.types[0]] });
  const live = async (): Promise<string[]> => (await cloud.emulator.ledger()).live;
  const there = async (): Promise<string[]> => (await cloud.existing()).map(({ id }) => id);
  const sweepsTaken = async (): Promise<number> =>
    (await temporal.schedule.getHandle(sweepScheduleId(cloud.queue)).describe()).info.numActionsTaken;

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
    // Its volume remains after its end, and is then an orphan of its own.
    await cloud.keepVolume(orphans[0] ?? '');
    const claimed = await plant(owned.number, hourMs);
    const young = [...(await plant(987_655, -hourMs)), ...(await plant(987_656, 0, own, plantedKinds.slice(1)))];
    const foreign = await plant(987_654, hourMs, 'dep_other');
    const strange = await cloud.plant('volume', null, hourMs);
    const others = [...launched, ...claimed, ...young, ...foreign, strange];
    expect(await there()).toEqual(expect.arrayContaining([...orphans, ...others]));

    await eventually(async () => (await there()).every((id) => !orphans.includes(id)), { timeoutMs: 90_000 });
    await eventually(async () => !(await cloud.existing()).some(({ cluster }) => cluster === String(closed.number)), {
      timeoutMs: 90_000,
    });
    const { calls } = await cloud.emulator.counts();
    expect(calls['DeleteVolume'] ?? calls['disks.delete']).toBeGreaterThanOrEqual(3);
    // Not by timing: several more sweeps see them and leave them.
    const taken = await sweepsTaken();
    await eventually(async () => (await sweepsTaken()) >= taken + 4, { timeoutMs: 60_000 });
    expect(await there()).toEqual(expect.arrayContaining(others));

    const { code, stdout } = await runCli(['sweep', '--dry-run', '--format', 'json'], {
      env: { ROPEWALK_HOME: cloud.stack.home },
    });
    const verdicts = new Map(
      reports.parse(JSON.parse(stdout)).flatMap((report) => report.verdicts.map(({ id, verdict }) => [id, verdict])),
    );
    expect(code).toBe(0);
    // A firewall rule is not listed while its cluster has an instance.
    const seenClaimed = tested.name === 'aws' ? claimed : claimed.slice(0, 2);
    expect([...seenClaimed, ...launched].map((id) => verdicts.get(id))).toEqual(
      [...seenClaimed, ...launched].map(() => 'owned'),
    );
    // While a cluster has an instance, its other resources are not judged.
    const ofInstance = tested.name === 'aws' ? ['young', 'needed', 'needed'] : ['young', 'needed', undefined];
    expect(young.map((id) => verdicts.get(id))).toEqual([...ofInstance, 'young', 'young']);
    expect([...foreign, strange].map((id) => verdicts.get(id))).toEqual([undefined, undefined, undefined, undefined]);
  });
});

const reports = z.array(z.object({ verdicts: z.array(z.object({ id: z.string(), verdict: z.string() })) }));
