// A real one-machine stack for tests: `ropewalk dev` as a child process with a home of its own, ended with all its processes,
// also when the test fails.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { parse, stringify } from 'yaml';
import { z } from 'zod';

import { userConfig } from '../../schema/user-config.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { childRecords, processesOfHome } from './home-processes.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
export const node24 = join(repository, 'node_modules', 'node', 'bin', 'node');

const stackFile = z.object({
  apiUrl: z.string(),
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().nullable(),
  pids: z.record(z.string(), z.number()),
});

export interface StackOptions {
  /** Kept afterwards when given; else a temporary one that is removed. */
  home?: string;
  /** Over the temporal-dev.yml of this checkout, by section: `{ worker: { env: { NAME: 'value' } } }`. */
  overrides?: Record<string, Record<string, unknown>>;
  env?: Record<string, string>;
  readyWithinMs?: number;
  /** As bin/ropewalk.mjs starts it: with a pipe at file descriptor 3, `dev.stdio[3]`. */
  launched?: boolean;
  /** By the command: `ropewalk dev`. */
  byCommand?: boolean;
  /** More options of that command. */
  args?: string[];
}

export interface TestStack extends z.infer<typeof stackFile> {
  home: string;
  token: string;
  dev: ChildProcess;
  /** Its exit code, once it has ended. */
  exited: Promise<number | null>;
  /** The stack's output so far. */
  output: () => string;
  /** Living children by name, from their records: `temporal`, `api`, `worker`. */
  childPids: () => Promise<Record<string, number>>;
  /** Signals one child. */
  kill: (name: string, signal: NodeJS.Signals) => Promise<void>;
  /** Signals the supervisor and waits for its exit code. */
  signal: (signal: NodeJS.Signals) => Promise<number | null>;
  /** Signals the supervisor, its children, and every instance and task, at the same moment. */
  killAll: (signal: NodeJS.Signals) => Promise<void>;
  /** Ends the stack in order; throws when a process of its home remains. Safe to repeat, and after a kill. */
  stop: () => Promise<void>;
}

export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  const home = options.home ?? (await makeHome());
  const running = await spawnStack(home, options);
  const { dev, output, killAll, signal } = running;
  const stop = async (): Promise<void> => {
    const wasRunning = isRunning(dev);
    if (wasRunning) await signal('SIGTERM');
    const left = await processesOfHome(home);
    if (left.length > 0) await killAll('SIGKILL');
    if (options.home === undefined) await removeHome(home);
    if (wasRunning && left.length > 0) {
      throw new Error(`left after an orderly end: ${JSON.stringify(left)}\n${output()}`);
    }
  };
  try {
    const readyFile = async (): Promise<z.infer<typeof stackFile> | null> => {
      if (!isRunning(dev)) return null;
      const text = await readFile(join(home, 'run', 'stack.json'), 'utf8').catch(() => null);
      const info = text === null ? null : stackFile.parse(JSON.parse(text));
      // A killed stack's file remains until the next one has taken the home.
      return info?.pids['dev'] === dev.pid ? info : null;
    };
    const info = await eventually(async () => (await readyFile()) ?? (isRunning(dev) ? null : 'ended'), {
      timeoutMs: options.readyWithinMs ?? 150_000,
      intervalMs: 50,
    }).catch((cause: unknown) => {
      throw new Error(`the stack is not ready:\n${output()}`, { cause });
    });
    if (info === 'ended') throw new Error(`the stack ended with ${dev.exitCode ?? dev.signalCode}:\n${output()}`);
    const { token = '' } = userConfig.parse(parse(await readFile(join(home, 'config.yaml'), 'utf8')));
    return { ...running, ...info, home, token, stop };
  } catch (error) {
    await killAll('SIGKILL');
    if (options.home === undefined) await removeHome(home);
    throw error;
  }
}

/** Starts it without waiting: for stacks that are meant to refuse, or to be killed during the start. */
export async function spawnStack(
  home: string,
  options: StackOptions = {},
): Promise<Pick<TestStack, 'dev' | 'exited' | 'output' | 'childPids' | 'kill' | 'signal' | 'killAll'>> {
  const config = `${home}.yml`;
  await writeFile(config, stringify(await configWith(options.overrides ?? {}, await portsOf(home))));
  // A fresh environment: the tests' own environment must not affect the stack.
  const { PATH = '', HOME = '', XDG_CACHE_HOME, TEMPORAL_CLI } = process.env;
  const program = options.byCommand === true ? ['bin/ropewalk.mjs', 'dev'] : ['dev/main.ts'];
  const dev = spawn(node24, [...program, '--home', home, '--config', config, ...(options.args ?? [])], {
    cwd: repository,
    env: {
      PATH,
      HOME,
      ...(XDG_CACHE_HOME === undefined ? {} : { XDG_CACHE_HOME }),
      ...(TEMPORAL_CLI === undefined ? {} : { TEMPORAL_CLI }),
      ...networkEnv(),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ROPEWALK_HOME: home,
      ...(options.launched === true ? { ROPEWALK_LAUNCHER_FD: '3' } : {}),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', options.launched === true ? 'pipe' : 'ignore'],
  });
  let text = '';
  for (const stream of [dev.stdout, dev.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const exited = new Promise<number | null>((done) => dev.once('exit', done));
  const childPids = async (): Promise<Record<string, number>> =>
    Object.fromEntries((await childRecords(home)).map((record) => [record.name, record.pid]));
  return {
    dev,
    exited,
    output: () => text,
    childPids,
    kill: async (name, signal) => {
      const pid = (await childPids())[name];
      if (pid === undefined) throw new Error(`the stack has no living child ${name}`);
      process.kill(pid, signal);
    },
    signal: async (signal) => {
      dev.kill(signal);
      return exited;
    },
    killAll: async (signal) => {
      if (isRunning(dev)) dev.kill(signal);
      if (signal === 'SIGKILL') await exited;
      // Twice for SIGKILL: the second scan finds a process that was starting during the first.
      for (let scan = 0; scan < (signal === 'SIGKILL' ? 2 : 1); scan++) {
        for (const { pid } of await processesOfHome(home)) signalIfThere(pid, signal);
      }
      if (signal !== 'SIGKILL') return;
      await eventually(async () => {
        const left = await processesOfHome(home);
        if (left.length > 0) throw new Error(`still there: ${JSON.stringify(left)}`);
        return true;
      });
    },
  };
}

export const makeHome = (): Promise<string> => mkdtemp(join(tmpdir(), 'ropewalk-home-'));

export async function removeHome(home: string): Promise<void> {
  await rm(home, { recursive: true, force: true });
  await rm(`${home}.yml`, { force: true });
}

/** This machine's settings for its package index: Python environments are built from it. */
function networkEnv(): Record<string, string> {
  const names = /^(SSL_CERT_(FILE|DIR)|(HTTPS?|ALL|NO)_PROXY|(PIP|UV)_.*)$/i;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && names.test(name) ? [[name, value]] : [],
    ),
  );
}

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the scan and the signal.
  }
}

const sections = z.record(z.string(), z.unknown());

const keptPorts = z.record(z.string(), z.object({ asked: z.union([z.number(), z.string()]) }));

/** Those of an earlier start in this home; else free ones: another stack on this machine may use the usual ports. */
async function portsOf(home: string): Promise<Record<string, number | string>> {
  const kept = await readFile(join(home, 'ports.json'), 'utf8').catch(() => null);
  if (kept !== null)
    return Object.fromEntries(
      Object.entries(keptPorts.parse(JSON.parse(kept))).map(([name, { asked }]) => [name, asked]),
    );
  const [temporal, ui, api, dashboards] = [await freePort(), await freePort(), await freePort(), await freePort()];
  return { temporal, ui, api, dashboards };
}

async function configWith(overrides: Record<string, Record<string, unknown>>, ports: unknown): Promise<unknown> {
  const config = sections.parse(parse(await readFile(join(repository, 'temporal-dev.yml'), 'utf8')));
  config['ports'] = ports;
  for (const [section, values] of Object.entries(overrides)) {
    const before = sections.safeParse(config[section]);
    config[section] = { ...(before.success ? before.data : {}), ...values };
  }
  return config;
}

/** A section of the configuration, with additional environment variables. */
export function withEnv(section: Record<string, unknown> = {}, env: Record<string, string>): Record<string, unknown> {
  const { env: own } = section;
  return { ...section, env: { ...(typeof own === 'object' ? own : {}), ...env } };
}
