// One instances.insert for each worker, as dask-cloudprovider launches: against the same emulated project, without any of our
// code.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { InstancesClient } from '@google-cloud/compute/build/src/v1/instances_client.js';

import type { OneByOne } from '../ec2/one-by-one.ts';

const atATime = 50;
/** Pause after a throttled call. */
const pauseMs = 1_000;
const [project, zone] = ['test-project', 'us-central1-a'];

/** Deletes the launched instances. */
export async function launchOneByOne(endpoint: string, workers: number): Promise<OneByOne> {
  const { hostname, port, host } = new URL(endpoint);
  process.env['GCE_METADATA_HOST'] = host;
  const access = { projectId: project, apiEndpoint: hostname, port: Number(port), protocol: 'http' };
  const instances = new InstancesClient({ fallback: true, ...access });
  const found = { calls: 0, throttled: 0 };
  const withRetry = async (call: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        found.calls += 1;
        return void (await call());
      } catch (error) {
        if (!String(error).includes('Rate Limit Exceeded')) throw error;
        found.throttled += 1;
        await sleep(pauseMs * (0.5 + Math.random()));
      }
    }
  };
  const names = Array.from({ length: workers }, () => `worker-${randomUUID()}`);
  const each = async (act: (name: string) => Promise<unknown>): Promise<void> => {
    const waiting = [...names];
    const several = async (): Promise<void> => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
        const own = name;
        await withRetry(() => act(own));
      }
    };
    await Promise.all(Array.from({ length: atATime }, several));
  };
  const startedAtMs = performance.now();
  await each((name) => instances.insert({ project, zone, requestId: randomUUID(), instanceResource: machine(name) }));
  const result = { seconds: (performance.now() - startedAtMs) / 1_000, ...found };
  await each((instance) => instances.delete({ project, zone, instance }));
  await instances.close();
  return result;
}

const machine = (name: string) => ({
  name,
  machineType: `zones/${zone}/machineTypes/n2-standard-2`,
  disks: [
    {
      boot: true,
      autoDelete: true,
      initializeParams: { sourceImage: 'projects/debian-cloud/global/images/family/debian-12' },
    },
  ],
  networkInterfaces: [{ subnetwork: 'regions/us-central1/subnetworks/ropewalk' }],
});
