// Instances that were stopped from outside, by automation that saves costs, or by the cloud itself when it retires a host. They
// do no more work and their disks are billed: each is deleted and replaced. Oracle: the emulated cloud.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { freshOwner } from '../providers/launch-requests.ts';
import { clouds } from '../support/clouds.ts';
import type { StartedCloud } from '../support/clouds.ts';
import { createEmulatedCluster } from './cluster.ts';

const shutdownMs = 60_000;

describe.each(clouds)('an instance of $title that was stopped from outside', ({ start }) => {
  let cloud: StartedCloud;
  beforeEach(async () => {
    cloud = await start();
  });
  afterEach(() => cloud.close());

  it('or is just stopping is listed for a sweep, and a termination ends both with their disks', async () => {
    const { emulator, provider, workersRequest, billed } = cloud;
    const owner = freshOwner();
    const { launched } = await provider.launch(workersRequest(owner, 2));
    const ids = launched.map(({ id }) => id);
    // One was stopped long ago, the other just now.
    await emulator.send({ op: 'delays', shutdownMs });
    await emulator.send({ op: 'stop', id: ids[0] ?? '' });
    await emulator.send({ op: 'advance', ms: shutdownMs });
    await emulator.send({ op: 'stop', id: ids[1] ?? '' });
    await emulator.send({ op: 'delays', shutdownMs: 0 });
    expect((await emulator.ledger()).live).toEqual([]);
    expect(await billed()).toEqual(expect.arrayContaining(ids));
    const listed = await provider.list(owner.deploymentId);
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await provider.terminate(owner, ids, AbortSignal.timeout(10_000));
    expect(await billed()).toEqual([]);
  });

  it('is replaced by its cluster, which ends with nothing left', async () => {
    const { emulator, billed } = cloud;
    const cluster = createEmulatedCluster(cloud, {
      instances: 3,
      launched: (each, fresh) => fresh.forEach((one) => each.register(one)),
    });
    await cluster.runUntil(() => cluster.state.readyAtMs !== null);
    const [, stopped = ''] = cluster.state.instances.map(({ id }) => id);
    await emulator.send({ op: 'stop', id: stopped });
    cluster.suspect([stopped]);
    await cluster.settle();
    expect(await billed()).not.toContain(stopped);
    const { live } = await emulator.ledger();
    expect([live.length, live.includes(stopped)]).toEqual([3, false]);
    const [last = ''] = cluster.state.instances.map(({ id }) => id);
    await emulator.send({ op: 'stop', id: last });
    await cluster.stop();
    expect(await billed()).toEqual([]);
  });
});
