// The matrix on the emulated Compute Engine: instances are machines whose first process is an agent. The cloud's own append-only
// ledger records the owner, the launch and the end of each instance.
import { cloudQueue } from '../../../domain/cloud-names.ts';
import { createGcpProvider } from '../../../providers/gcp/provider.ts';
import { credentialsOf, gcpSettings, placement } from '../../providers/gcp-cloud.ts';
import { gceSide } from '../../support/cloud-sides.ts';
import { computeEngine } from '../../support/clouds.ts';
import { startGcpStack } from '../../support/gcp-stack.ts';
import { ownersFrom } from './cloud-places.ts';
import type { Ground, GroundOptions } from './ground.ts';
import { weather } from './weather.ts';

const { tags, throttling } = computeEngine;
const types = computeEngine.types.slice(0, 2);
const calls = [
  'bulkInsert',
  'operations.aggregatedList',
  'instances.aggregatedList',
  'instances.delete',
  'zoneOperations.wait',
] as const;
/** Longer than the emulated cloud hides a new instance, which would otherwise count as terminated. */
const unseenMs = 10_000;
/** An agent's directory contains the name of its instance; a task has the name alone. */
const marker = /(?:^|\0)ROPEWALK_INSTANCE(?:_DIR=[^\0]*\/|=)(rw-[0-9a-f]{10}-[0-9a-f]{10}-\d+)(?:\/instance)?(?:\0|$)/;

export async function startGcpGround(options: GroundOptions): Promise<Ground> {
  const started = await startGcpStack(options);
  const { emulator, stack } = started;
  Object.assign(process.env, credentialsOf(emulator));
  return {
    stack,
    provider: createGcpProvider({
      settings: gcpSettings,
      access: { endpoint: emulator.url, loggingEndpoint: emulator.url },
      unseenMs,
    }),
    queue: cloudQueue('gcp', gcpSettings.region),
    jobMachines: { vmTypes: types },
    clusterMachines: { workerVmTypes: types, schedulerVmTypes: types },
    placement: placement({ types }),
    instanceIn: (environment) => marker.exec(environment)?.[1] ?? null,
    ownersOf: ownersFrom(emulator, tags),
    strike: (id) => emulator.send({ op: 'die', id }),
    cloud: {
      tags,
      ledger: async () => (await emulator.ledger()).entries,
      existing: gceSide(emulator).existing,
      beUnkind: (random) => weather(emulator, random, { calls, throttling }),
      injected: async () => (await emulator.counts()).injected,
    },
    close: () => started.stop(),
  };
}
