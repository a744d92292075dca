// Adaptive scaling: the delay from applying load to a cluster until it requests more workers. Compares Ropewalk's on a real
// stack, whose scheduler reports its load and whose server scales, with LocalCluster().adapt(), which scales in the program's
// own process, both at the same interval. Rounds are interleaved, each with a new cluster; the first is not counted.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Client, createClient, startCluster } from '../../sdk/client.ts';
import { daskPython, makeDaskHome } from '../../test/support/dask.ts';
import { eventually } from '../../test/support/eventually.ts';
import { createRandom } from '../../test/support/random.ts';
import { removeHome, startStack } from '../../test/support/stack.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { type Driver, type Load, startDriver } from './driver.ts';
import { writeCredentials } from './ours.ts';

const adaptive = { maximum: 4, interval: '1s', targetDuration: '5s', waitCount: 3 };
const tasks = 200;
/** Until the scheduler judges its load. */
const settledAfterSeconds = 3;

export async function adaptiveBench(report: Report, { rounds, small }: BenchOptions): Promise<void> {
  const home = await makeDaskHome();
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-bench-'));
  const stack = await startStack({ home });
  const random = createRandom(20_261_124);
  let driver: Driver | null = null;
  try {
    const { apiUrl, token } = stack;
    const client = createClient({ apiUrl, token });
    const ours: number[] = [];
    const local: number[] = [];
    const count = rounds ?? (small ? 1 : 9);
    for (let round = 0; round <= count; round += 1) {
      const load = { tasks, afterSeconds: settledAfterSeconds + random() };
      const cluster = await startCluster({ apiUrl, token, workers: 1 });
      driver ??= startDriver(daskPython(home));
      try {
        const waited = await reaction(client, { number: cluster.number, directory, driver, load });
        if (round > 0) ours.push(waited);
      } finally {
        await cluster.close();
        await client.clusters.waitForEnd(cluster.number);
      }
      const { applied, changed } = await driver.localAdaptive({ ...load, ...adaptive });
      if (round > 0) local.push(changed - applied);
    }
    report.say(`load is judged every ${adaptive.interval}, and applied at a chance moment of it`);
    report.figure('Ropewalk: load applied to target changed', ours, 'ms');
    report.figure('LocalCluster().adapt(): load applied to plan changed', local, 'ms');
    report.ratio('Ropewalk to LocalCluster().adapt()', ours, local);
  } finally {
    await driver?.close();
    await stack.stop();
    await removeHome(home);
    await rm(directory, { recursive: true, force: true });
  }
}

interface Reacting {
  number: number;
  directory: string;
  driver: Driver;
  load: Load;
}

/** Milliseconds, by the cluster's event. */
async function reaction(client: Client, { number, directory, driver, load }: Reacting): Promise<number> {
  const given = await client.clusters.credentials(number);
  const paths = await writeCredentials(directory, given);
  await client.clusters.adapt(number, { minimum: 1, ...adaptive });
  const { applied } = await driver.load({ ...paths, ...load, address: given.schedulerAddress });
  try {
    const at = await eventually(
      async () => {
        const { events } = await client.clusters.get(number);
        return events.find(({ code, text }) => code === 'SCALE' && text.startsWith('adaptive scaling'))?.at ?? null;
      },
      { timeoutMs: 60_000 },
    );
    return Date.parse(at) - applied;
  } finally {
    await driver.unload();
  }
}
