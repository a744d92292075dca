// The same array of tasks by Ropewalk and by its usual alternatives: a Slurm job array, GNU parallel, xargs -P, Dask's
// client.map, all with the same concurrency. Ropewalk's seconds count from the request, including the start of its instances;
// Slurm's node and Dask's workers are already running.
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { daskPython, makeDaskHome } from '../../test/support/dask.ts';
import { removeHome, startStack } from '../../test/support/stack.ts';
import type { BenchOptions } from '../options.ts';
import type { Report } from '../report.ts';
import { startSlurm } from './slurm.ts';

const slots = 8;
const runFile = promisify(execFile);

type Run = (tasks: number, command: string[]) => Promise<number>;

export async function peersBench(report: Report, { small, rounds = 1 }: BenchOptions): Promise<void> {
  const home = await makeDaskHome();
  const stack = await startStack({ home });
  const slurm = await startSlurm(slots);
  try {
    const client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    // Builds the environment with Dask, unless it exists.
    const first = await client.clusters.create({ workers: 0 });
    await client.clusters.waitForScheduler(first.number);
    await client.clusters.stop(first.number);
    await client.clusters.waitForEnd(first.number);
    const python = daskPython(home);
    const runs: Record<string, Run> = {
      Ropewalk: (tasks, command) => byRopewalk(client, tasks, command),
      'Slurm job array': (tasks, command) => slurm.array(tasks, command.join(' ')),
      'GNU parallel': (tasks, command) => byLines('parallel', ['-j', String(slots), '-N0', ...command], tasks),
      'xargs -P': (tasks, command) => byLines('xargs', ['-P', String(slots), '-I{}', ...command], tasks),
      'client.map': async (tasks, command) => {
        const script = join(import.meta.dirname, 'client_map.py');
        const words = [script, String(slots), String(tasks), ...command];
        return Number((await runFile(python, words)).stdout);
      },
    };
    const works: [tasks: number, command: string[]][] = [
      [small ? 100 : 1_000, ['true']],
      [small ? 16 : 200, ['sleep', '1']],
    ];
    for (const [tasks, command] of works) await compare(report, runs, { tasks, command, rounds });
  } finally {
    await slurm.stop();
    await stack.stop();
    await removeHome(home);
  }
}

async function compare(
  report: Report,
  runs: Record<string, Run>,
  { tasks, command, rounds }: { tasks: number; command: string[]; rounds: number },
): Promise<void> {
  const found = new Map(Object.keys(runs).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, run] of Object.entries(runs)) found.get(name)?.push(await run(tasks, command));
  for (const [name, seconds] of found)
    report.figure(`${name}: ${tasks} x ${command.join(' ')}, ${slots} at a time`, seconds, 's');
  const [[, ours = []] = [], ...others] = found;
  for (const [name, seconds] of others) report.ratio(`Ropewalk to ${name}`, ours, seconds);
}

async function byRopewalk(client: Client, tasks: number, command: string[]): Promise<number> {
  const { number } = await client.jobs.create({ command, ntasks: tasks, maxWorkers: slots });
  const job = await client.jobs.wait(number);
  if (job.tasks.done !== tasks) throw new Error(JSON.stringify(job.tasks));
  await client.clusters.waitForEnd(number);
  return (Date.parse(job.endedAt ?? '') - Date.parse(job.submittedAt)) / 1_000;
}

/** One line of input for each task. */
function byLines(program: string, words: string[], tasks: number): Promise<number> {
  const startedAtMs = performance.now();
  const child = spawn(program, words, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(Array.from({ length: tasks }, (_, index) => `${index}\n`).join(''));
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`${program} is needed for this bench`, { cause })));
    child.once('close', (code) => {
      if (code === 0) resolve((performance.now() - startedAtMs) / 1_000);
      else reject(new Error(`${program} ended with ${code}`));
    });
  });
}
