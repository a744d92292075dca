// The instances of an emulated EC2, for which this process speaks: each learns from its metadata service who it is, as a real
// machine does, and becomes what a simulated agent needs.
import { setTimeout as sleep } from 'node:timers/promises';

import { readEc2Instance } from '../../agent/aws/instance.ts';
import { createMetadata } from '../../agent/aws/metadata.ts';
import type { Emulator } from '../../test/emulator/emulator.ts';
import type { Boot } from '../sim/provider.ts';

const atATime = 20;
const checkEveryMs = 200;

/** The boots of a cluster's instances, once so many have been launched. */
export async function bootInstances(emulator: Emulator, cluster: number, count: number): Promise<Boot[]> {
  const waiting = await launched(emulator, cluster, count);
  const boots: Boot[] = [];
  const one = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) boots.push(await boot(emulator.url, id));
  };
  await Promise.all(Array.from({ length: atATime }, one));
  return boots;
}

/** Ids of the living instances with this cluster's tag, once there are so many. */
export async function launched(emulator: Emulator, cluster: number, count: number): Promise<string[]> {
  const deadlineMs = performance.now() + 120_000;
  for (;;) {
    const { entries, live } = await emulator.ledger();
    const living = new Set(live);
    const ours = entries.filter(
      ({ id, event, tags }) => event === 'launched' && living.has(id) && tags['ropewalk:cluster'] === String(cluster),
    );
    if (ours.length >= count) return ours.map(({ id }) => id);
    if (performance.now() > deadlineMs) throw new Error(`${ours.length} of ${count} instances were launched`);
    await sleep(checkEveryMs);
  }
}

async function boot(emulatorUrl: string, id: string): Promise<Boot> {
  const instance = await readEc2Instance({
    metadata: createMetadata(`${emulatorUrl}/imds/${id}`),
    directory: '',
    cacheDir: null,
    isEmulated: true,
  });
  const { launchToken, identity, owner } = instance.boot;
  return {
    instance: instance.id,
    launchToken,
    cluster: owner.cluster,
    ...(identity === undefined ? {} : { identity }),
  };
}
