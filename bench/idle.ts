// The cost of idle Dask clusters. Their agents are simulated: each has registered, has reported that its process runs, holds
// its long poll for orders and periodically reports liveness, as a real one does.
import { setTimeout as sleep } from 'node:timers/promises';

import { daskBundle } from '../schema/agent.ts';
import { createClient } from '../sdk/client.ts';
import { eventually } from '../test/support/eventually.ts';
import { startStack } from '../test/support/stack.ts';
import { historySize } from './history.ts';
import type { BenchOptions } from './options.ts';
import { cpuClock, residentMb } from './processes.ts';
import type { Report } from './report.ts';
import { createDaskAgent } from './sim/dask-agent.ts';
import { createTalk } from './sim/http.ts';
import { simulate, simulatedStack } from './sim/provider.ts';
import type { Boot } from './sim/provider.ts';

/** The scheduler's instance and two workers. */
const instances = 3;
const atATime = 20;

/** After the start of the last cluster: projections and timers of the start have ended. */
const settleSeconds = 20;

export async function idleBench(report: Report, { small, clusters }: BenchOptions): Promise<void> {
  const count = clusters ?? (small ? 10 : 200);
  // Long enough for one liveness report of each agent.
  const seconds = small ? 20 : 185;
  const stack = await startStack({ overrides: simulatedStack });
  const talk = createTalk(stack.apiUrl);
  const stopping = new AbortController();
  try {
    const boots: Boot[] = [];
    const simulation = await simulate(stack, {
      onLaunch: (launched) => boots.push(...launched),
      onTerminate: () => undefined,
    });
    try {
      const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
      await client.workspaces.setLimits({ running: count, instances: count * instances, vcpus: count * instances * 8 });
      const pids = await stack.childPids();
      const before = await memory(pids);
      const numbers: number[] = [];
      const living: Promise<void>[] = [];
      while (numbers.length < count) {
        const batch = await Promise.all(
          Array.from({ length: Math.min(atATime, count - numbers.length) }, () =>
            client.clusters.create({ workers: instances - 1, idleTimeout: '1 day' }),
          ),
        );
        numbers.push(...batch.map(({ number }) => number));
        const wanted = numbers.length * instances;
        await eventually(() => Promise.resolve(boots.length >= wanted), { timeoutMs: 60_000, intervalMs: 20 });
        const fresh = boots.slice(living.length).map((boot) => createDaskAgent(talk, boot, stopping.signal));
        await Promise.all(fresh.map((agent) => agent.begin((bundle) => daskBundle.parse(bundle))));
        living.push(...fresh.map((agent) => agent.live()));
      }
      for (const number of numbers) await client.clusters.waitForWorkers(number, true);
      const events = async (): Promise<number> => {
        const sizes = await Promise.all(numbers.map((number) => historySize(simulation.client, `cluster/${number}`)));
        return sizes.reduce((sum, size) => sum + size.events, 0);
      };
      await sleep(settleSeconds * 1_000);
      const eventsBefore = await events();
      const cpu = await cpuClock(pids);
      await sleep(seconds * 1_000);
      const used = await cpu();
      const perHour = ((await events()) - eventsBefore) / count / (seconds / 3_600);
      const after = await memory(pids);
      report.figure(`${count} idle clusters of ${instances} instances: events per cluster and hour`, perHour, 'events');
      for (const name of Object.keys(pids)) {
        report.figure(`  ${name}: CPU`, ((used[name] ?? 0) / seconds) * 100, '% of a core');
        report.figure(`  ${name}: memory`, after[name] ?? 0, `MB (${(before[name] ?? 0).toFixed(0)} MB with none)`);
      }
      stopping.abort();
      talk.close();
      await Promise.all(living);
    } finally {
      stopping.abort();
      talk.close();
      await simulation.stop();
    }
  } finally {
    await stack.stop();
  }
}

async function memory(pids: Record<string, number>): Promise<Record<string, number>> {
  const read = Object.entries(pids).map(async ([name, pid]) => [name, await residentMb(pid)] as const);
  return Object.fromEntries(await Promise.all(read));
}
