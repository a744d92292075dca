// R17: a thousand jobs and Dask clusters that start and end on one stack. Histories stay short, and neither memory nor open files
// of the API and the Temporal worker grow with ended objects: the soak measures retained memory, because garbage is collected.
import { readdirSync } from 'node:fs';

import { historySize } from '../../bench/history.ts';
import { residentMb } from '../../bench/processes.ts';
import { createTalk } from '../../bench/sim/http.ts';
import { simulate, simulatedStack } from '../../bench/sim/provider.ts';
import { summarise } from '../../bench/statistics.ts';
import { createClient } from '../../sdk/client.ts';
import { startStack } from '../support/stack.ts';
import { createSoakAgent } from './agent.ts';

export interface CyclesInput {
  cycles: number;
  atOnce: number;
}

interface Sample {
  cycle: number;
  mb: Record<string, number>;
  files: Record<string, number>;
}

const watched = ['api', 'worker'] as const;
/** A run ends at 2,000 events; work that had begun then may add some. */
const mostEventsOfRun = 3_000;

const collect = `--import ${new URL('collect.ts', import.meta.url).pathname}`;
const collecting = {
  api: { env: { ...simulatedStack.api.env, NODE_OPTIONS: `${simulatedStack.api.env.NODE_OPTIONS} ${collect}` } },
  worker: { env: { NODE_OPTIONS: collect } },
};

export async function soakCycles({ cycles, atOnce }: CyclesInput) {
  const stack = await startStack({ overrides: collecting });
  const talk = createTalk(stack.apiUrl);
  const lives: Promise<void>[] = [];
  const hooks = { taskMs: () => 1, began: () => undefined, ran: () => undefined };
  const simulation = await simulate(stack, {
    onLaunch: (boots) => {
      for (const boot of boots) {
        lives.push(
          createSoakAgent(talk, boot, '10.2.0.1', hooks)
            .live()
            .catch(() => undefined),
        );
      }
    },
    onTerminate: () => undefined,
  });
  let begun = 0;
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    const samples: Sample[] = [];
    const startedAtMs = Date.now();
    let mostEvents = 0;
    const loop = async (): Promise<void> => {
      while (begun < cycles) {
        begun += 1;
        const cycle = begun;
        if (cycle % 2 === 0) {
          const { number } = await client.clusters.create({ name: `c${cycle}`, workers: 1 });
          await client.clusters.stop(number);
          await client.clusters.waitForEnd(number);
        } else {
          const { number } = await client.jobs.create({ command: ['true'] });
          await client.jobs.wait(number);
          if (cycle % 25 === 0) {
            mostEvents = Math.max(mostEvents, (await historySize(simulation.client, `job/${number}`)).events);
          }
        }
        if (cycle % Math.max(1, Math.floor(cycles / 100)) === 0)
          samples.push(await sample(cycle, await stack.childPids()));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
    const slopes = watched.map((name) => slopeOf(name, samples));
    const violations = [
      ...slopes
        .filter(({ mb }) => mb > 0.05)
        .map(({ name, mb }) => `${name}: memory grew by ${(mb * 100).toFixed(1)} %`),
      ...slopes.filter(({ files }) => files > 0.05).map(({ name }) => `${name}: open files grew`),
      ...(mostEvents < mostEventsOfRun ? [] : ['a history is too long']),
    ];
    const seconds = (Date.now() - startedAtMs) / 1_000;
    return { id: 'R17', cycles, atOnce, seconds, mostEvents, slopes, samples: samples.length, violations };
  } catch (error) {
    throw new Error(`after ${begun} cycles; the stack said last:\n${stack.output().slice(-4_000)}`, { cause: error });
  } finally {
    talk.close();
    await Promise.all(lives);
    await simulation.stop();
    await stack.stop();
  }
}

async function sample(cycle: number, pids: Record<string, number>): Promise<Sample> {
  const of = async <T>(what: (pid: number) => T | Promise<T>) =>
    Object.fromEntries(await Promise.all(watched.map(async (name) => [name, await what(pids[name] ?? 0)] as const)));
  return { cycle, mb: await of(residentMb), files: await of((pid) => readdirSync(`/proc/${pid}/fd`).length) };
}

/** The last two fifths against the two before: the first fifth fills caches. */
function slopeOf(name: (typeof watched)[number], samples: readonly Sample[]) {
  const steady = samples.slice(Math.floor(samples.length / 5));
  const half = Math.floor(steady.length / 2);
  const ratio = (value: (each: Sample) => number): { slope: number; last: number } => {
    const last = summarise(steady.slice(half).map(value)).median;
    return { slope: last / summarise(steady.slice(0, half).map(value)).median - 1, last };
  };
  const mb = ratio((each) => each.mb[name] ?? 0);
  const files = ratio((each) => each.files[name] ?? 0);
  return { name, mb: mb.slope, lastMb: mb.last, files: files.slope, lastFiles: files.last };
}
