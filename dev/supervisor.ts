// Keeps the processes of the stack running: starts each by argv, waits until it answers, and restarts it when it dies. It
// decides nothing about their work, and never starts a shell.
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { createInterface } from 'node:readline';

import { RopewalkError } from '../domain/errors.ts';
import { saysDiskIsFull } from './full-disk.ts';
import { childMark, forgetProcess, recordProcess, signalGroup } from '../ops/processes.ts';

export interface ChildSpec {
  name: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Called until it returns true; a child without one is healthy when it runs. */
  isHealthy?: () => Promise<boolean>;
  healthyWithinMs: number;
  /** Time from SIGTERM to SIGKILL. */
  stopWithinMs: number;
}

export interface Supervisor {
  /** Resolves when the child answers; throws, with its last lines, when it does not in time. */
  start: (spec: ChildSpec) => Promise<void>;
  /** Ends a child for good and resolves when it has ended. */
  stop: (name: string) => Promise<void>;
  /** Without a grace period, for the second Ctrl-C. */
  killAll: () => void;
  pids: () => Record<string, number>;
}

const minBackoffMs = 200;
const maxBackoffMs = 10_000;
/** Milliseconds. After a run this long, the next restart is fast again. */
const resetBackoffAfterMs = 30_000;
const linesKept = 20;

interface Child {
  spec: ChildSpec;
  process: ChildProcess | null;
  startedAtMs: number;
  backoffMs: number;
  restart: NodeJS.Timeout | null;
  isStopping: boolean;
  lastLines: string[];
}

export function createSupervisor(options: {
  runDir: string;
  say: (line: string) => void;
  onSpawn: () => void;
}): Supervisor {
  const children = new Map<string, Child>();

  function launch(child: Child): void {
    const { name, command, args, env } = child.spec;
    const started = spawn(command, args, {
      env: { ...env, [childMark]: name },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    child.process = started;
    child.startedAtMs = Date.now();
    for (const stream of [started.stdout, started.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        child.lastLines = [...child.lastLines, line].slice(-linesKept);
        // Errors of a process that is being stopped are expected.
        if (!child.isStopping) options.say(`${name} | ${line}`);
      });
    }
    started.once('error', (error) => {
      options.say(`${name} | cannot start: ${error.message}`);
      if (started.pid === undefined) ended(child, 'not started');
    });
    started.once('exit', (code, signal) => ended(child, code === null ? `signal ${signal}` : `exit code ${code}`));
    if (started.pid !== undefined) {
      recordProcess(options.runDir, name, started.pid).catch((error: unknown) =>
        options.say(`cannot record ${name}: ${String(error)}`),
      );
      options.onSpawn();
    }
  }

  function ended(child: Child, how: string): void {
    child.process = null;
    if (child.isStopping) return;
    if (Date.now() - child.startedAtMs >= resetBackoffAfterMs) child.backoffMs = minBackoffMs;
    options.say(`${child.spec.name} ended (${how}); starting it again in ${child.backoffMs / 1000} s`);
    child.restart = setTimeout(() => launch(child), child.backoffMs);
    child.backoffMs = Math.min(child.backoffMs * 2, maxBackoffMs);
  }

  return {
    start: async (spec) => {
      const child: Child = {
        spec,
        process: null,
        startedAtMs: 0,
        backoffMs: minBackoffMs,
        restart: null,
        isStopping: false,
        lastLines: [],
      };
      children.set(spec.name, child);
      launch(child);
      const deadline = Date.now() + spec.healthyWithinMs;
      while (!(await isHealthy(child))) {
        if (child.isStopping) throw new Error(`${spec.name} was stopped while it started`);
        if (Date.now() > deadline || hasNoRoom(child)) throw neverHealthy(child);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    stop: async (name) => {
      const child = children.get(name);
      if (child === undefined) return;
      child.isStopping = true;
      if (child.restart !== null) clearTimeout(child.restart);
      if (child.process !== null) await end(child.process, child.spec.stopWithinMs);
      await forgetProcess(options.runDir, name);
    },
    killAll: () => {
      for (const child of children.values()) {
        child.isStopping = true;
        if (child.restart !== null) clearTimeout(child.restart);
        if (child.process?.pid !== undefined) signalGroup(child.process.pid, 'SIGKILL');
      }
    },
    pids: () =>
      Object.fromEntries(
        [...children].flatMap(([name, child]) => (child.process?.pid === undefined ? [] : [[name, child.process.pid]])),
      ),
  };
}

async function isHealthy(child: Child): Promise<boolean> {
  if (child.process === null) return false;
  return child.spec.isHealthy === undefined || child.spec.isHealthy();
}

/** The child ended because a disk is full: a restart would fill the disk again. */
const hasNoRoom = ({ process: running, lastLines }: Child): boolean =>
  running === null && lastLines.some(saysDiskIsFull);

async function end(running: ChildProcess, withinMs: number): Promise<void> {
  const { pid } = running;
  if (pid === undefined || running.exitCode !== null || running.signalCode !== null) return;
  const gone = new Promise((resolve) => running.once('exit', resolve));
  signalGroup(pid, 'SIGTERM');
  // A stopped process handles SIGTERM only after it is continued.
  signalGroup(pid, 'SIGCONT');
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), withinMs);
  await gone;
  clearTimeout(timer);
}

function neverHealthy({ spec, process: running, lastLines }: Child): RopewalkError {
  const seconds = spec.healthyWithinMs / 1000;
  if (running !== null && lastLines.length === 0) {
    const load = loadavg()[0]?.toFixed(1) ?? 'unknown';
    return new RopewalkError({
      code: 'UNAVAILABLE',
      message: `${spec.name} did not answer within ${seconds} s. It still ran and had printed nothing; the machine's load was ${load} on ${availableParallelism()} cores.`,
      hint: 'The machine is probably too busy: start again when other programs on it have ended.',
    });
  }
  return new RopewalkError({
    code: 'UNAVAILABLE',
    message: `${spec.name} did not answer within ${seconds} s. Its last lines:\n${lastLines.map((line) => `  ${line}`).join('\n') || '  (none)'}`,
    hint: 'The lines above usually say why; the log level is in temporal-dev.yml.',
  });
}
