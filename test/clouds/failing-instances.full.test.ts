// R7 and R8: instances that are launched and never work. Each costs its timeout at most, launches stay under a bound, the end
// names the checks for the user, and the cluster survives half an hour of failures. Oracle: the cloud's ledger. Time is
// simulated.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { ClusterInstance } from '../../domain/cluster/state.ts';
import { clusterStatus } from '../../domain/cluster/status.ts';
import { cloudRegisterTimeoutMs, maxNeverRegistered, registrationRecheckMs } from '../../domain/cluster/limits.ts';
import type { LedgerEntry } from '../emulator/ledger.ts';
import { clouds } from '../support/clouds.ts';
import type { StartedCloud } from '../support/clouds.ts';
import { createEmulatedCluster } from './cluster.ts';
import type { EmulatedCluster } from './cluster.ts';
import { dollars } from './money.ts';

const minuteMs = 60_000;
/** Tolerates the delays of a busy machine. */
const toleranceMs = 30_000;

/** Each cloud's state of an instance whose host has failed. */
const hostFailed = {
  aws: 'EC2 says Server.InternalError',
  gcp: 'Compute Engine says compute.instances.hostError',
};

describe.each(clouds)('instances of $title that fail', (tested) => {
  let cloud: StartedCloud;
  beforeEach(async () => {
    cloud = await tested.start();
  });
  afterEach(() => cloud.close());

  const launches = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
    entries.filter(({ event }) => event === 'launched');

  it('R7: that never call home are ended at the second check after their timeout, tried three times more, one at a time, and the end says what to check', async () => {
    const instances = 10;
    let mostLive = 0;
    const cluster = createEmulatedCluster(cloud, {
      instances,
      async watch() {
        mostLive = Math.max(mostLive, (await cloud.emulator.ledger()).live.length);
      },
    });
    const bornMs = cluster.nowMs();
    await cluster.runUntil(() => false);

    const { entries, live } = await cloud.emulator.ledger();
    const launched = launches(entries);
    const livedMs = launched.map(
      ({ id, atMs }) => (entries.find((e) => e.id === id && e.event === 'ended')?.atMs ?? 0) - atMs,
    );
    expect([launched.length, mostLive, live]).toEqual([instances + maxNeverRegistered - 1, instances, []]);
    const endedAfterMs = cloudRegisterTimeoutMs + registrationRecheckMs;
    expect(Math.min(...livedMs)).toBeGreaterThanOrEqual(endedAfterMs);
    expect(Math.max(...livedMs)).toBeLessThan(endedAfterMs + toleranceMs);
    const { stopRequested } = cluster.state;
    expect(stopRequested?.code).toBe('NO_INSTANCES');
    expect(stopRequested?.text).toMatch(
      /13 x NEVER_REGISTERED: .* NAT gateway, .*security group or firewall; .*instance profile or service account/,
    );
    console.log(
      `R7 on ${tested.title}: ${instances} slots, ${launched.length} launched, over after ${minutes(cluster.nowMs() - bornMs)}, $${dollars(tested, entries, cluster.nowMs()).toFixed(2)}: ${stopRequested?.text}`,
    );
  });

  const die = async (cluster: EmulatedCluster, instances: ClusterInstance[]): Promise<void> => {
    for (const { id } of instances) await cloud.emulator.send({ op: 'die', id });
    cluster.suspect(instances.filter(({ state }) => state === 'ready').map(({ id }) => id));
  };

  const instances = 20;
  it.each([
    { when: 'as soon as they have registered', registers: true, some: 4 * instances, recoveredMinutes: 33 },
    { when: 'while they boot', registers: false, some: instances + 3, recoveredMinutes: 37 },
  ])('R8: that all die $when for half an hour: $some launches, and then it recovers', async (fault) => {
    const isFault = (): boolean => cluster.nowMs() < bornMs + 30 * minuteMs;
    const cluster: EmulatedCluster = createEmulatedCluster(cloud, {
      instances,
      async launched(each, fresh) {
        if (fault.registers || !isFault()) fresh.forEach((one) => each.register(one));
        if (isFault()) await die(each, fresh);
      },
    });
    const bornMs = cluster.nowMs();
    await cluster.runUntil(() => !isFault());
    const during = await cloud.emulator.ledger();
    const early = during.entries.filter(({ atMs }) => atMs < bornMs + 30 * minuteMs);
    expect(launches(early)).toHaveLength(fault.some);
    const wasted = dollars(tested, early, bornMs + 30 * minuteMs);

    await cluster.runUntil(() => clusterStatus(cluster.state) === 'ready');
    const recoveredMs = cluster.nowMs() - bornMs;
    expect((await cloud.emulator.ledger()).live).toHaveLength(instances);
    expect(recoveredMs).toBeLessThan(fault.recoveredMinutes * minuteMs);
    if (!fault.registers) {
      expect(Object.keys(cluster.state.failures)).toEqual(['ENDED_WHILE_STARTING']);
      expect(cluster.state.failures['ENDED_WHILE_STARTING']).toMatchObject({
        count: fault.some,
        text: `the instance ended before its agent registered: ${hostFailed[tested.name]}`,
      });
    }
    await cluster.stop();
    const { entries, live } = await cloud.emulator.ledger();
    console.log(
      `R8 on ${tested.title}: ${instances} slots whose instances die ${fault.when}: ${fault.some} launched in 30 minutes for $${wasted.toFixed(2)}, all there after ${minutes(recoveredMs)}`,
    );
    expect([live, launches(entries).length]).toEqual([[], fault.some + instances]);
  });
});

const minutes = (ms: number): string => `${(ms / minuteMs).toFixed(1)} minutes`;
