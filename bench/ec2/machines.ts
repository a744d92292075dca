// The instances of an emulated EC2, played by this process: each reads its identity from its metadata service, as a real
// machine does, and becomes a simulated agent.
import { readEc2Instance } from '../../agent/aws/instance.ts';
import { createMetadata } from '../../agent/aws/metadata.ts';
import type { Emulator } from '../../test/emulator/emulator.ts';
import { ec2 } from '../../test/support/clouds.ts';
import { launched } from '../launched.ts';
import type { Boot } from '../sim/provider.ts';

const atATime = 20;

/** The boots of a cluster's instances, once this many have been launched. */
export async function bootInstances(emulator: Emulator, cluster: number, count: number): Promise<Boot[]> {
  const waiting = await launched(emulator, ec2.tags, cluster, count);
  const boots: Boot[] = [];
  const one = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) boots.push(await boot(emulator.url, id));
  };
  await Promise.all(Array.from({ length: atATime }, one));
  return boots;
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
