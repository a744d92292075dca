// `npm run quickstart`: starts the stack in a home of its own, runs a job over the real files of examples/weather through
// the real CLI, shows what came of it, and ends everything it started. `--keep` keeps the home, in ./.ropewalk.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { parse } from 'yaml';
import { z } from 'zod';

import { type Task, taskPage } from '../schema/jobs.ts';
import { userConfig } from '../schema/user-config.ts';
import { repository } from './build.ts';
import { readTextOrNull } from '../ops/files.ts';
import { processesLeft } from '../ops/processes.ts';
import { cli } from './quickstart-cli.ts';
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
  if (values.keep) console.log(`The job is kept. To look at it again: ROPEWALK_HOME=${home} npm start`);
  else if (code !== 1) await rm(home, { recursive: true, force: true });
  else console.error(`Its home is kept for you to look at: ${home}`);
  return isClean ? code : 1;
}

async function walk(home: string, env: Record<string, string>, stack: Stack): Promise<number> {
  console.log('1. Starting the stack: Temporal server, API, Temporal worker');
  const startedAtMs = Date.now();
  const { apiUrl, uiUrl } = await whenReady(home, stack);
  console.log(`   ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s; API ${apiUrl}\n`);

  console.log(`2. $ ropewalk batch run --wait ${job.join(' ')}`);
  const ran = await cli(['batch', 'run', '--wait', '--format', 'json', ...job], env, { showProgress: true });
  const { number } = submitted.parse(JSON.parse(ran.stdout));
  console.log(`   job ${number}, exit code ${ran.code}\n`);

  console.log(`3. $ ropewalk batch logs ${number}`);
  const logs = await cli(['batch', 'logs', String(number)], env);
  console.log(logs.stdout);

  const { token = '' } = userConfig.parse(parse(await readFile(join(home, 'config.yaml'), 'utf8')));
  const tasks = await readTasks(apiUrl, token, number);
  console.log('4. What the API says of its tasks\n');
  console.log(table(tasks));
  const done = tasks.filter((task) => task.state === 'done').length;
  console.log(`\n${done} of ${tasks.length} tasks done.`);
  if (uiUrl !== null) console.log(`In the Temporal UI, while the stack runs: ${uiUrl}/job%2F${number}`);
  const printed = logs.stdout.match(/"station"/g)?.length ?? 0;
  const isJobDone = ran.code === 0 && logs.code === 0 && done === 12 && printed === 12;
  return isJobDone && (await walkDask(home, env)) ? 0 : 1;
}

const submitted = z.object({ number: z.number() });
const ready = z.object({ apiUrl: z.string(), uiUrl: z.string().nullable(), pids: z.record(z.string(), z.number()) });

interface Stack {
  child: ChildProcess;
  /** The last of what it printed. */
  output: () => string;
  exited: Promise<number>;
}

function startStack(home: string, env: Record<string, string>): Stack {
  const child = spawn(process.execPath, [join(repository, 'dev', 'main.ts'), '--home', home], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A Ctrl-C in the terminal comes to us alone, and we end the stack in order.
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
    // With --keep, that of a killed earlier run lies there until this one has taken the home.
    if (info !== null && info.pids['dev'] === stack.child.pid) return info;
    if (stack.child.exitCode !== null || stack.child.signalCode !== null) throw new Error('the stack ended by itself');
    if (Date.now() > deadline) throw new Error(`the stack was not ready within ${readyWithinMs / 1000} s`);
    await sleep(50);
  }
}

async function readTasks(apiUrl: string, token: string, number: number): Promise<Task[]> {
  const answer = await fetch(`${apiUrl}/v1/jobs/${number}/tasks?limit=1000`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new Error(`the API answered ${answer.status} when asked for the tasks of job ${number}`);
  return taskPage.parse(await answer.json()).items;
}

function table(tasks: Task[]): string {
  const rows = [['task', 'state', 'exit code', 'attempt', 'seconds', 'instance'], ...tasks.map(row)];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return rows
    .map((cells) => `   ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

function row(task: Task): string[] {
  const took =
    task.startedAt === null || task.endedAt === null ? null : Date.parse(task.endedAt) - Date.parse(task.startedAt);
  return [
    String(task.id),
    task.state,
    String(task.exitCode ?? task.signal ?? '-'),
    String(task.attempt),
    took === null ? '-' : (took / 1000).toFixed(2),
    task.instance ?? '-',
  ];
}

/** Ends the stack in order; false, with a list, when a process of it is left. */
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

/** The user's own settings must not reach into the quickstart: it uses its own server, home and token. */
function quickstartEnv(home: string): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(ROPEWALK_|TEMPORAL_(?!CLI$))/.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(entries), ROPEWALK_HOME: home };
}

process.exit(await main());
