// A Dask cluster of 1,000 workers on an emulated Compute Engine that answers at once: the number of calls, the time until all
// are launched and until all are deleted, the size of its workflow's history. Against one instances.insert for each worker, on
// the same emulator, without Google's request rates and with them. Instances are records: none boots, and none registers.
import { Client, Connection } from '@temporalio/client';

import { createClient } from '../../sdk/client.ts';
import { computeEngine } from '../../test/support/clouds.ts';
import { startGcpStack } from '../../test/support/gcp-stack.ts';
import type { GcpStack } from '../../test/support/gcp-stack.ts';
import { historySize } from '../history.ts';
import { difference, launched } from '../launched.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { launchOneByOne } from './one-by-one.ts';

const { tags, types } = computeEngine;

export async function gcpBench(report: Report, { small, rounds = 1 }: BenchOptions): Promise<void> {
  const workers = small ? 100 : 1_000;
  const gcp = await startGcpStack({ machines: false });
  const { emulator, stack } = gcp;
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection, namespace: stack.namespace });
  const times = { ours: [] as number[], oneByOne: [] as number[] };
  try {
    // Fills caches: offers, the access token.
    await oneCluster(gcp, 1);
    for (let round = 0; round < rounds; round += 1) {
      const life = await oneCluster(gcp, workers);
      const size = await historySize(temporal, `cluster/${life.number}`);
      report.figure(`${workers} workers: launch calls (bulkInsert)`, life.launchCalls, 'calls');
      report.figure('  all calls until all were launched', life.calls, 'calls');
      report.figure('  request to all launched', life.launchedS, 's');
      report.figure('  stop to all deleted', life.stoppedS, 's');
      report.figure('  calls from the stop to the end', life.stopCalls, 'calls');
      report.figure('  events of the whole life', size.events, `events (${size.runs} runs)`);
      report.figure('  bytes of history', size.bytes / 1_024, 'kB');
      times.ours.push(life.launchedS);
      times.oneByOne.push(await oneByOne(report, emulator.url, workers, ''));
    }
    report.ratio('one by one to ours, until launched', times.oneByOne, times.ours);

    await emulator.send({ op: 'throttle', on: true });
    const life = await oneCluster(gcp, workers);
    report.figure('With the request rates of Google: request to all launched', life.launchedS, 's');
    report.figure('  calls refused for their rate', await refused(gcp), 'calls');
    const throttledS = await oneByOne(report, emulator.url, workers, ', with the request rates of Google');
    report.ratio('one by one to ours, with the request rates of Google', [throttledS], [life.launchedS]);
  } finally {
    await connection.close();
    await gcp.stop();
  }
}

interface Life {
  number: number;
  launchCalls: number;
  calls: number;
  launchedS: number;
  stoppedS: number;
  stopCalls: number;
}

async function oneCluster({ emulator, stack }: GcpStack, workers: number): Promise<Life> {
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const before = (await emulator.counts()).calls;
  const askedAtMs = Date.now();
  const { number } = await client.clusters.create({
    provider: 'gcp',
    workers,
    workerVmTypes: types.slice(0, 2),
    schedulerVmTypes: types.slice(0, 1),
  });
  await launched(emulator, tags, number, workers + 1);
  const atLaunch = (await emulator.counts()).calls;
  const calls = difference(atLaunch, before);
  const { events } = await client.clusters.get(number);
  const launchedAtMs = Math.max(...events.filter(({ code }) => code === 'LAUNCHED').map(({ at }) => Date.parse(at)));
  const stopAtMs = performance.now();
  await client.clusters.stop(number);
  await client.clusters.waitForEnd(number);
  const stoppedS = (performance.now() - stopAtMs) / 1_000;
  return {
    number,
    launchCalls: calls['bulkInsert'] ?? 0,
    calls: sum(calls),
    launchedS: (launchedAtMs - askedAtMs) / 1_000,
    stoppedS,
    stopCalls: sum(difference((await emulator.counts()).calls, atLaunch)),
  };
}

async function oneByOne(report: Report, url: string, workers: number, how: string): Promise<number> {
  const { seconds, calls, throttled } = await launchOneByOne(url, workers);
  report.figure(`${workers} workers by one instances.insert each${how}`, seconds, 's');
  report.figure('  calls', calls, `calls (${throttled} of them refused for their rate)`);
  return seconds;
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, count) => all + count, 0);

async function refused({ emulator }: GcpStack): Promise<number> {
  const { injected } = await emulator.counts();
  return sum(Object.fromEntries(Object.entries(injected).filter(([name]) => name.endsWith('throttled'))));
}
