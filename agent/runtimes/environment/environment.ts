// Python environments, made once per content and kept: the same requirements on the same interpreter are the same
// directory, named by their hash. An environment that is there is complete, and is never changed again.
import { mkdir, open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { buildOnce } from './build-once.ts';
import { EnvironmentError } from './errors.ts';
import { markerFile, stamp, use } from './in-use.ts';
import { inspectPython, type Python } from './python.ts';
import { environmentHash, formatNumber, namedIn, normaliseRequirements, withoutPasswords } from './requirements.ts';
import { runTool, toolEnvironment, type ToolFailure, type Tools } from './run-tool.ts';
import { ensureUv, isExecutable } from './uv.ts';

/** 'wait' only when another process builds the same environment already. */
export type StageName = 'tools' | 'wait' | 'install' | 'compile' | 'ready';

export interface EnvironmentRequest {
  /** On one file system, kept between runs, shared by all agents of a machine. */
  cacheDir: string;
  requirements: readonly string[];
  /** A Python 3.10 or later: its path, or its name on the PATH. */
  pythonPath: string;
  /** The agent's own environment; programs see a few names of it. */
  environment: Record<string, string | undefined>;
  /** Told when a stage begins. */
  onStage?: (name: StageName) => void;
  signal?: AbortSignal;
}

export interface Environment {
  directory: string;
  pythonPath: string;
  hash: string;
  stages: { name: StageName; durationMs: number }[];
  /** True when this call did not build it: it was there, or another process built it meanwhile. */
  reused: boolean;
}

/** Rejects with an EnvironmentError, or with the signal's reason. */
export async function ensureEnvironment(request: EnvironmentRequest): Promise<Environment> {
  const cacheDir = resolve(request.cacheDir);
  // Whoever may write here may run code as this user.
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const tools = { environment: toolEnvironment(request.environment, cacheDir), cacheDir, signal: request.signal };
  const requirements = normaliseRequirements(request.requirements);
  const python = await inspectPython(tools, request.pythonPath);
  const hash = environmentHash(requirements, python);
  const directory = join(cacheDir, 'environments', hash);
  const clock = stageClock(request.onStage);
  // Before it is looked for: what is found must stay.
  await use(cacheDir, hash, request.signal);
  const recipe = { tools, requirements, python, hash, enter: clock.enter };
  const outcome = await buildOnce({
    cacheDir,
    target: directory,
    isComplete: (found) => isComplete(found, hash),
    build: (into) => build(recipe, into),
    onWait: () => clock.enter('wait'),
    signal: request.signal,
  });
  await stamp(directory);
  if (outcome === 'found') clock.enter('ready');
  return { directory, pythonPath: pythonIn(directory), hash, stages: clock.end(), reused: outcome === 'found' };
}

interface Recipe {
  tools: Tools;
  requirements: readonly string[];
  python: Python;
  hash: string;
  enter: (name: StageName) => void;
}

const pythonIn = (directory: string): string => join(directory, 'bin', 'python');

async function build({ tools, requirements, python, hash, enter }: Recipe, directory: string): Promise<void> {
  enter('tools');
  const uv = await ensureUv(tools, python.executable);
  enter('install');
  const venv = ['venv', '--quiet', '--no-project', '--relocatable', '--allow-existing', '--python', python.executable];
  const made = await runTool(tools, uv, [...venv, directory], { timeoutMs: 60_000 });
  if (!made.ok) throw installError(made.failure, requirements);
  if (requirements.length > 0) {
    // By stdin: a requirement may hold a URL with a password, and everybody on a machine can read argv.
    const install = ['pip', 'install', '--quiet', '--python', pythonIn(directory), '-r', '-'];
    const input = `${requirements.join('\n')}\n`;
    const installed = await runTool(tools, uv, install, { timeoutMs: 30 * 60_000, input });
    if (!installed.ok) throw installError(installed.failure, requirements);
  }
  enter('compile');
  // Of its own, not uv's --compile-bytecode, to be a stage that can be timed; as fast. A file that does not compile is none
  // that is imported (packages ship templates and old syntax), so that the exit code says nothing.
  await runTool(tools, pythonIn(directory), ['-I', '-m', 'compileall', '-q', '-j', '0', join(directory, 'lib')], {
    timeoutMs: 10 * 60_000,
  });
  enter('ready');
  await writeMarker(directory, { format: formatNumber, hash, python });
}

function installError(failure: ToolFailure, requirements: readonly string[]): EnvironmentError {
  const named = namedIn(failure.said, requirements).map(withoutPasswords);
  const isFetching = /Failed to fetch|Request failed|No space left/.test(failure.said);
  const which = named.length === 0 ? 'The requirements' : named.map((one) => `"${one}"`).join(', ');
  return new EnvironmentError(
    named.length > 0 && !isFetching ? 'REQUIREMENT' : 'INSTALL',
    `${which} cannot be installed. uv says:\n${failure.said}`,
    { requirements: named, cause: failure.cause },
  );
}

/** The last thing that is written, before the rename: it says what the environment is to whoever looks. */
async function writeMarker(directory: string, content: object): Promise<void> {
  const file = await open(join(directory, markerFile), 'wx');
  try {
    await file.writeFile(`${JSON.stringify(content, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The interpreter is a link to the machine's own: where that has been removed, the environment is of no use. */
async function isComplete(directory: string, hash: string): Promise<boolean> {
  const marker = await readFile(join(directory, markerFile), 'utf8').catch(() => '');
  return marker.includes(`"${hash}"`) && (await isExecutable(pythonIn(directory)));
}

function stageClock(onStage: ((name: StageName) => void) | undefined): {
  enter: (name: StageName) => void;
  end: () => Environment['stages'];
} {
  const stages: Environment['stages'] = [];
  let current: { name: StageName; startedMs: number } | null = null;
  const leave = (): void => {
    if (current === null) return;
    stages.push({ name: current.name, durationMs: Math.round(performance.now() - current.startedMs) });
    current = null;
  };
  return {
    enter: (name) => {
      leave();
      current = { name, startedMs: performance.now() };
      onStage?.(name);
    },
    end: () => {
      leave();
      return stages;
    },
  };
}
