// A Dask cluster of 1,000 workers on an emulated EC2 that answers at once, with simulated agents: the number of calls, the time
// until all have registered, the size of its workflow's history. Against one RunInstances for each worker, on the same
// emulator, without EC2's request rates and with them. These times exclude the boot of real machines.
import { Client, Connection } from '@temporalio/client';

import { daskBundle } from '../../schema/agent.ts';
import { createClient } from '../../sdk/client.ts';
import { ec2 as tested } from '../../test/support/clouds.ts';
import { startEc2Stack } from '../../test/support/ec2-stack.ts';
import type { Ec2Stack } from '../../test/support/ec2-stack.ts';
import { historySize } from '../history.ts';
import type { BenchOptions } from '../options.ts';
import { difference, launched } from '../launched.ts';
import { cpuClock } from '../processes.ts';
import type { Report } from '../report.ts';
import { createDaskAgent } from '../sim/dask-agent.ts';
import type { SimulatedDaskAgent } from '../sim/dask-agent.ts';
import { createTalk } from '../sim/http.ts';
import type { Talk } from '../sim/http.ts';
import { bootInstances } from './machines.ts';
import { launchOneByOne } from './one-by-one.ts';

export async function ec2Bench(report: Report, { small, rounds = 1 }: BenchOptions): Promise<void> {
  const workers = small ? 100 : 1_000;
  const ec2 = await startEc2Stack({ machines: false });
  const { emulator, stack } = ec2;
  const talk = createTalk(stack.apiUrl);
  const connection = await Connection.connect({ address: stack.temporalAddress });
  const temporal = new Client({ connection, namespace: stack.namespace });
  const times = { ours: [] as number[], oneByOne: [] as number[] };
  try {
    // Fills caches: offers, the newest image.
    await oneCluster(ec2, talk, 1);
    for (let round = 0; round < rounds; round += 1) {
      const life = await oneCluster(ec2, talk, workers);
      const size = await historySize(temporal, `cluster/${life.number}`);
      report.figure(`${workers} workers: launch calls (CreateFleet, RunInstances)`, life.launchCalls, 'calls');
      report.figure('  all calls of EC2 until all were launched', life.calls, 'calls');
      report.figure('  request to all launched', life.launchedS, 's');
      report.figure('  all registered, from the first registration', life.registeredS, 's');
      report.figure('  request to all registered, boot left out', life.launchedS + life.registeredS, 's');
      report.figure('  all bundles fetched and processes reported, after that', life.startedS, 's');
      report.figure('  stop to all terminated', life.stoppedS, 's');
      report.figure('  events of the whole life', size.events, `events (${size.runs} runs)`);
      report.figure('  bytes of history', size.bytes / 1_024, 'kB');
      report.figure('  registrations tried again', life.again, 'requests');
      for (const [name, seconds] of Object.entries(life.cpu)) report.figure(`  CPU registering: ${name}`, seconds, 's');
      times.ours.push(life.launchedS);
      times.oneByOne.push(await oneByOne(report, emulator.url, workers, ''));
    }
    report.ratio('one by one to ours, until launched', times.oneByOne, times.ours);

    await emulator.send({ op: 'throttle', on: true });
    const life = await oneCluster(ec2, null, workers);
    report.figure('With the request rates of EC2: request to all launched', life.launchedS, 's');
    const throttledS = await oneByOne(report, emulator.url, workers, ', with the request rates of EC2');
    report.ratio('one by one to ours, with the request rates of EC2', [throttledS], [life.launchedS]);
  } finally {
    talk.close();
    await connection.close();
    await ec2.stop();
  }
}

interface Life {
  number: number;
  launchCalls: number;
  calls: number;
  launchedS: number;
  registeredS: number;
  startedS: number;
  stoppedS: number;
  again: number;
  cpu: Record<string, number>;
}

/** From the request for a cluster to its last instance's end. Without `talk` no agent registers. */
async function oneCluster({ emulator, stack }: Ec2Stack, talk: Talk | null, workers: number): Promise<Life> {
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const callsBefore = (await emulator.counts()).calls;
  const askedAtMs = Date.now();
  const { number } = await client.clusters.create({
    provider: 'aws',
    workers,
    workerVmTypes: ['m6i.large', 'm5.large'],
    schedulerVmTypes: ['m6i.large'],
  });
  const all = workers + 1;
  await launched(emulator, tested.tags, number, all);
  const calls = difference((await emulator.counts()).calls, callsBefore);
  const life = { registeredS: 0, startedS: 0, again: 0, cpu: {} as Record<string, number> };
  if (talk !== null) {
    const boots = await bootInstances(emulator, number, all);
    // A cluster with its process reports liveness far less often than this bench takes.
    const agents = boots.map((boot) => createDaskAgent(talk, boot, AbortSignal.abort()));
    talk.stats.again = 0;
    const cpu = await cpuClock({ ...(await stack.childPids()), 'the agents': process.pid });
    life.registeredS = await secondsOf(agents, (agent) => agent.register());
    life.cpu = await cpu();
    life.again = talk.stats.again;
    life.startedS = await secondsOf(agents, (agent) => agent.begin((bundle) => daskBundle.parse(bundle)));
    await client.clusters.waitForWorkers(number, true);
  }
  const { events } = await client.clusters.get(number);
  const launchedAtMs = Math.max(...events.filter(({ code }) => code === 'LAUNCHED').map(({ at }) => Date.parse(at)));
  const stopAtMs = performance.now();
  await client.clusters.stop(number);
  await client.clusters.waitForEnd(number);
  return {
    number,
    ...life,
    launchCalls: (calls['CreateFleet'] ?? 0) + (calls['RunInstances'] ?? 0),
    calls: Object.values(calls).reduce((sum, count) => sum + count, 0),
    launchedS: (launchedAtMs - askedAtMs) / 1_000,
    stoppedS: (performance.now() - stopAtMs) / 1_000,
  };
}

async function secondsOf(
  agents: readonly SimulatedDaskAgent[],
  act: (agent: SimulatedDaskAgent) => Promise<void>,
): Promise<number> {
  const startedAtMs = performance.now();
  await Promise.all(agents.map(act));
  return (performance.now() - startedAtMs) / 1_000;
}

async function oneByOne(report: Report, url: string, workers: number, how: string): Promise<number> {
  const { seconds, calls, throttled } = await launchOneByOne(url, workers);
  report.figure(`${workers} workers by one RunInstances each${how}`, seconds, 's');
  report.figure('  calls', calls, `calls (${throttled} of them refused for their rate)`);
  return seconds;
}
