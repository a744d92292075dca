// The matrix on this machine: instances are agent processes of the home. Their tags are in files that were written before the
// agent was started, which stand in for a cloud's ledger.
import { join } from 'node:path';

import { z } from 'zod';

import { buildAgent } from '../../../agent/build.ts';
import { createLocalProvider } from '../../../providers/local/provider.ts';
import { read } from '../../support/kills.ts';
import { startStack } from '../../support/stack.ts';
import type { Ground, GroundOptions, Owner } from './ground.ts';

export async function startLocalGround({ home, overrides }: GroundOptions): Promise<Ground> {
  const stack = await startStack({ home, overrides });
  const { hostId } = z.object({ hostId: z.string() }).parse(read(join(home, 'host.json')));
  const agentBundle = join(home, 'planted-agent.mjs');
  await buildAgent(agentBundle);
  const owners = new Map<string, Owner>();
  return {
    stack,
    provider: createLocalProvider({ home, agentBundle, nodePath: process.execPath, maxInstances: 1_000, cores: 2 }),
    queue: `local/${hostId}`,
    jobMachines: {},
    clusterMachines: {},
    placement: null,
    instanceIn: (environment) => /(?:^|\0)ROPEWALK_INSTANCE=([^\0]*)/.exec(environment)?.[1] ?? null,
    ownersOf: async (instances) => {
      for (const id of instances) {
        const found = owners.has(id) ? null : read<Owner>(join(home, 'instances', id, 'owner.json'));
        if (found !== null) owners.set(id, { cluster: found.cluster, slot: found.slot });
      }
      return owners;
    },
    strike: async (_, pid) => void process.kill(pid, 'SIGKILL'),
    cloud: null,
    close: () => stack.stop(),
  };
}
