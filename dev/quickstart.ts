// `npm run quickstart`: starts the stack in its own home, types the commands of a first session (a job and a Dask cluster over
// the files of examples/weather), and ends everything it started. `--keep` keeps the home, in ./.ropewalk.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import { repository } from './build.ts';
import { readTextOrNull } from '../ops/files.ts';
import { processesLeft } from '../ops/processes.ts';
import { numberIn, typeCommand } from './quickstart-cli.ts';
import { walkDask } from './quickstart-dask.ts';

const job = ['--array', '0-11', '--upload', 'examples/weather', 'examples/station_summary.py'];
const readyWithinMs = 180_000;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
  const home = values.keep ? join(repository, '.ropewalk') : await mkdtemp(join(tmpdir(), 'ropewalk-quickstart-'));
  const env = quickstartEnv(home);
  console.log(
    'Ropewalk quickstart: a year of 12 weather stations, as a batch job and on a Dask cluster, on this machine.\n',
  );
  const stack = startStack(home, env);
  const interrupted = onInterrupt(stack);
  let code = 1;
  try {
    code = await Promise.race([walk(home, env, stack), interrupted]);
  } catch (error) {
    console.error(`\nThe quickstart failed: ${error instanceof Error ? error.message : String(error)}`);
    console.error(stack.output());
  }
  const isClean = await finish(home, stack);
  if (values.keep) console.log(`The job is kept. To see it again: ROPEWALK_HOME=${home} npm start`);
  else if (code !== 1) await rm(home, { recursive: true, force: true });
  else console.error(`Its home is kept for inspection: ${home}`);
  return isClean ? code : 1;
}

async function walk(home: string, env: Record<string, string>, stack: Stack): Promise<number> {
  console.log('The stack (`npm start` starts the same): Temporal server, API, Temporal worker');
  const startedAtMs = Date.now();
  const { apiUrl, uiUrl } = await whenReady(home, stack);
  console.log(`ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s; API ${apiUrl}\n`);

  console.log('$ export PATH="$PWD/bin:$PATH"\n');
  console.log('A batch job of 12 tasks, one for each file:\n');
  const ran = await typeCommand(['batch', 'run', '--wait', ...job], env);
  const number = numberIn('Job', ran.stdout);
  const logs = await typeCommand(['batch', 'logs', String(number)], env);
  const status = await typeCommand(['batch', 'status', String(number), '--tasks'], env);
  if (uiUrl !== null) console.log(`The job in the Temporal UI, while the stack runs: ${uiUrl}/job%2F${number}\n`);
  const printed = logs.stdout.match(/"station"/g)?.length ?? 0;
  const done = status.stdout.match(/│ +done +│/g)?.length ?? 0;
  const isJobDone = [ran, logs, status].every(({ code }) => code === 0) && done === 12 && printed === 12;
  return isJobDone && (await walkDask(env)) ? 0 : 1;
}

const ready = z.object({ apiUrl: z.string(), uiUrl: z.string().nullable(), pids: z.record(z.string(), z.number()) });

interface Stack {
  child: ChildProcess;
  /** The last part of its output. */
  output: () => string;
  exited: Promise<number>;
}

function startStack(home: string, env: Record<string, string>): Stack {
  const child = spawn(process.execPath, [join(repository, 'dev', 'main.ts'), '--home', home], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A Ctrl-C in the terminal reaches only this process, which then shuts the stack down.
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-20_000);
    });
  }
  const exited = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  return { child, output: () => text, exited };
}

async function whenReady(home: string, stack: Stack): Promise<z.infer<typeof ready>> {
  const path = join(home, 'run', 'stack.json');
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    const text = await readTextOrNull(path);
    const info = text === null ? null : ready.parse(JSON.parse(text));
    // With --keep, the file of an earlier, killed run exists until this run has locked the home.
    if (info !== null && info.pids['dev'] === stack.child.pid) return info;
    if (stack.child.exitCode !== null || stack.child.signalCode !== null) throw new Error('the stack ended');
    if (Date.now() > deadline) throw new Error(`the stack was not ready within ${readyWithinMs / 1000} s`);
    await sleep(50);
  }
}

/** Stops the stack. Returns false, after printing a list, when some of its processes remain. */
async function finish(home: string, stack: Stack): Promise<boolean> {
  console.log('\nStopping what was started');
  stack.child.kill('SIGTERM');
  await stack.exited;
  const left = await processesLeft(home);
  if (left.length === 0) {
    console.log('No process is left.');
    return true;
  }
  console.error(`Still running: ${left.map(({ name, pid }) => `${name} (${pid})`).join(', ')}`);
  return false;
}

function onInterrupt(stack: Stack): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(130));
    stack.child.once('error', () => resolve(1));
  });
}

/** Without the user's settings: the quickstart uses its own server, home and token. */
function quickstartEnv(home: string): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(ROPEWALK_|TEMPORAL_(?!CLI$))/.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(entries), ROPEWALK_HOME: home };
}

process.exit(await main());
