// Jobs of no-op tasks, run by simulated agents that all begin at the same moment, after the last of them has registered.
import { createClient } from '../../sdk/client.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { TestStack } from '../../test/support/stack.ts';
import { historySize } from '../history.ts';
import type { HistorySize } from '../history.ts';
import { cpuClock } from '../processes.ts';
import { createAgent } from '../sim/agent.ts';
import { createTalk } from '../sim/http.ts';
import type { Boot, Simulation } from '../sim/provider.ts';

export interface FleetInput {
  stack: TestStack;
  simulation: Pick<Simulation, 'client'>;
  /** Filled by the simulated provider as instances are launched. */
  boots: Boot[];
  jobs: number;
  tasksPerJob: number;
  agentsPerJob: number;
  tasksPerRequest: number;
}

export interface FleetResult {
  /** From the first request for work to the last acknowledgement. */
  seconds: number;
  /** From the first create to the last answer to a create. */
  submitSeconds: number;
  numbers: number[];
  /** From the first create to the registration of all agents. */
  registerSeconds: number;
  size: HistorySize;
  latencies: number[];
  again: number;
  cpu: Record<string, number>;
}

export async function runFleet(input: FleetInput): Promise<FleetResult> {
  const { stack, simulation, boots, tasksPerJob, agentsPerJob, tasksPerRequest } = input;
  const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const talk = createTalk(stack.apiUrl);
  try {
    boots.length = 0;
    const createdAtMs = performance.now();
    const jobs = await Promise.all(
      Array.from({ length: input.jobs }, () =>
        client.jobs.create({ command: ['true'], ntasks: tasksPerJob, maxWorkers: agentsPerJob }),
      ),
    );
    const submitSeconds = (performance.now() - createdAtMs) / 1000;
    const wanted = input.jobs * agentsPerJob;
    await eventually(() => Promise.resolve(boots.length >= wanted), { timeoutMs: 60_000, intervalMs: 20 });
    // Each as if on a separate machine.
    const agents = boots.map((boot, index) => createAgent(talk, boot, `10.0.${index >> 8}.${index & 255}`));
    await Promise.all(agents.map((agent) => agent.register()));
    const registerSeconds = (performance.now() - createdAtMs) / 1000;
    talk.stats.latencies.length = 0;
    const cpu = await cpuClock({ ...(await stack.childPids()), agents: process.pid });
    const startedAtMs = performance.now();
    const works = await Promise.all(agents.map((agent) => agent.work(tasksPerRequest)));
    const used = await cpu();
    const done = works.reduce((sum, work) => sum + work.done, 0);
    // Agents without work ask again much later, and only then learn that the job has ended.
    const endedAtMs = works.reduce((last, work) => Math.max(last, work.lastAtMs), 0);
    const seconds = (endedAtMs - startedAtMs) / 1000;
    if (done !== input.jobs * tasksPerJob) throw new Error(`${done} results were acknowledged`);
    const sizes: HistorySize[] = [];
    for (const { number } of jobs) {
      const ended = await client.jobs.wait(number);
      if (ended.tasks.done !== tasksPerJob) throw new Error(`job ${number}: ${JSON.stringify(ended.tasks)}`);
      sizes.push(await historySize(simulation.client, `job/${number}`));
      sizes.push(await historySize(simulation.client, `cluster/${number}`));
    }
    const numbers = jobs.map(({ number }) => number);
    return { seconds, submitSeconds, numbers, registerSeconds, size: sumOf(sizes), ...talk.stats, cpu: used };
  } finally {
    talk.close();
  }
}

const sumOf = (sizes: readonly HistorySize[]): HistorySize =>
  sizes.reduce((sum, size) => ({
    events: sum.events + size.events,
    bytes: sum.bytes + size.bytes,
    runs: sum.runs + size.runs,
  }));
