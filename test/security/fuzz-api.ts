// Runs schemathesis against an API of its own: it reads the served OpenAPI document, sends valid and invalid requests, and judges
// every answer. `npm run fuzz:api -- [--examples 200] [--seconds 1800] [--seed 42]`; with `--cases 100000`, which is `npm run
// fuzz:api:long`, runs with one seed after the other until so many requests were sent, or one run has failed.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';

export interface FuzzOptions {
  /** Random requests for each operation, besides those from its schema's limits. */
  examples: number;
  /** The run ends after this time, even if it is incomplete; null: it never ends early. */
  seconds: number | null;
  seed: number;
}

/** Null when the tool is unavailable because no package index is reachable. Output is the tool's output, and the API's own errors. */
export async function fuzzApi(options: FuzzOptions): Promise<{ exitCode: number; output: string } | null> {
  const tool = await ensureTool();
  if (tool === null) return null;
  const api = spawn(process.execPath, [join(import.meta.dirname, 'fuzzed-api.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  api.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-fuzz-'));
  try {
    const { url, tokens } = hello.parse(JSON.parse(await firstLine(api)));
    const { examples, seconds, seed } = options;
    const ran = await run(tool, {
      args: [
        ...['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', `${url}/v1/openapi.json`],
        ...['--seed', String(seed), '--max-examples', String(examples)],
        ...(seconds === null ? [] : ['--max-time', String(seconds)]),
        ...['--continue-on-failure', '--no-color', '--generation-database', 'none', '--request-timeout', '30'],
      ],
      env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...tokens },
      cwd: directory,
    });
    return { exitCode: ran.exitCode, output: `${ran.output}\n${await ended(api).then(() => errors)}` };
  } finally {
    await ended(api);
    await rm(directory, { recursive: true, force: true });
  }
}

const hello = z.object({ url: z.url(), tokens: z.record(z.string(), z.string()) });

/** A directory of its own: tests of Dask expect Dask in theirs. */
const cacheDir = join(import.meta.dirname, '../../node_modules/.cache/ropewalk/schemathesis');

async function ensureTool(): Promise<string | null> {
  try {
    const { pythonPath } = await ensureEnvironment({
      cacheDir,
      requirements: ['schemathesis==4.32.5'],
      pythonPath: 'python3',
      environment: process.env,
    });
    return join(dirname(pythonPath), 'schemathesis');
  } catch (error) {
    console.warn('schemathesis cannot be installed:', error);
    return null;
  }
}

function run(program: string, { args, ...options }: { args: string[]; env: NodeJS.ProcessEnv; cwd: string }) {
  return new Promise<{ exitCode: number; output: string }>((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('exit', (code) => resolve({ exitCode: code ?? 1, output }));
  });
}

async function firstLine({ stdout }: Pick<ChildProcess, 'stdout'>): Promise<string> {
  if (stdout !== null) for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('the API to be fuzzed did not start');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.stdin?.end();
  await promise;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      examples: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '1800' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 0x7fff_ffff)) },
      cases: { type: 'string', default: '1' },
    },
  });
  let [seed, cases] = [Number(values.seed), 0];
  do {
    console.log(`seed ${seed}`);
    const result = await fuzzApi({ examples: Number(values.examples), seconds: Number(values.seconds), seed });
    console.log(result?.output ?? 'nothing was run');
    const isFault = result === null || result.exitCode !== 0 || result.output.includes('"code":"INTERNAL"');
    process.exitCode = isFault ? 1 : 0;
    if (isFault) break;
    cases += Number(/(\d+) generated/.exec(result.output)?.[1] ?? 0);
    console.log(`${cases} cases`);
    seed += 1;
  } while (cases < Number(values.cases));
}
