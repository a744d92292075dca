// A provider whose instances are objects of this process: everything around them is real. The control plane's activities for it
// run here too, on the task queue that the bench's API writes into its specifications.
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

import { createInstanceActivities } from '../../activities/instances.ts';
import { openKeys } from '../../platform/open-keys.ts';
import { createTokens } from '../../platform/tokens.ts';
import type { LaunchRequest, ObservedInstance, Provider } from '../../providers/provider.ts';
import type { TestStack } from '../../test/support/stack.ts';

/** An agent's boot data. */
export interface Boot {
  instance: string;
  launchToken: string;
  cluster: number;
  /** A cloud instance's proof of its identity. */
  identity?: { document: string; signature: string };
}

export interface Simulation {
  client: Client;
  connection: NativeConnection;
  /** Ends this instance without a request. */
  lose: (id: string) => void;
  stop: () => Promise<void>;
}

export const simulatedHost = 'sim';

/** A stack's settings for simulated instances of any number. */
export const simulatedStack = {
  api: {
    env: {
      ROPEWALK_HOST_ID: simulatedHost,
      ROPEWALK_MAX_LOCAL_INSTANCES: '100000',
      NODE_OPTIONS: `--import ${new URL('many-cores.ts', import.meta.url).pathname}`,
    },
  },
};

/** `onLaunch` starts agents; `onTerminate` has ended them when it returns. */
export async function simulate(
  stack: TestStack,
  options: { onLaunch: (boots: Boot[]) => void; onTerminate: (ids: string[]) => void },
): Promise<Simulation> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const address = stack.temporalAddress;
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }), namespace: stack.namespace });
  const living = new Map<string, ObservedInstance>();
  const provider = createSimulatedProvider(living, options);
  const worker = await Worker.create({
    connection,
    namespace: stack.namespace,
    taskQueue: `local/${simulatedHost}`,
    activities: createInstanceActivities({
      provider: () => provider,
      tokens: createTokens(await openKeys({ home: stack.home, keysSecret: null })),
      apiUrl: stack.apiUrl,
      probeApi: () => Promise.resolve(true),
    }),
  });
  const running = worker.run();
  return {
    client,
    connection,
    lose: (id) => void living.delete(id),
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
      await client.connection.close();
    },
  };
}

function createSimulatedProvider(
  living: Map<string, ObservedInstance>,
  {
    onLaunch,
    onTerminate,
  }: {
    onLaunch: (boots: Boot[]) => void;
    onTerminate: (ids: string[]) => void;
  },
): Pick<
  Provider,
  'name' | 'offers' | 'launch' | 'describe' | 'terminate' | 'logs' | 'list' | 'listResources' | 'deleteResources'
> {
  const all = (): ObservedInstance[] => [...living.values()];
  return {
    name: 'local',
    offers: () => Promise.resolve([]),
    launch: ({ owner, slots, token, launchToken }: LaunchRequest) => {
      const places = slots.map((slot) => ({ slot, id: idOf(token, slot.slot) }));
      const fresh = places.filter(({ id }) => !living.has(id));
      for (const { id } of fresh) living.set(id, { id, state: 'running', owner, launchedAtMs: Date.now() });
      onLaunch(fresh.map(({ id }) => ({ instance: id, launchToken, cluster: owner.cluster })));
      const launched = places.map(({ slot, id }) => ({ id, slot: slot.slot, offer: 'local', zone: 'local' }));
      return Promise.resolve({ launched, failures: [] });
    },
    describe: (owner) => Promise.resolve(all().filter((instance) => instance.owner.cluster === owner.cluster)),
    list: () => Promise.resolve([]),
    listResources: () => Promise.resolve([]),
    deleteResources: () => Promise.resolve(),
    terminate: (_owner, ids) => {
      onTerminate(ids);
      for (const id of ids) living.delete(id);
      return Promise.resolve();
    },
    // No process runs, so there are no logs.
    async *logs() {},
  };
}

const idOf = (token: string, slot: number): string =>
  `i_${Buffer.from(`${token}/${slot}`).toString('hex').slice(-40).padStart(40, '0')}`;
