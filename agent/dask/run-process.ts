// Runs one Dask process: in its own process group, its output as lines, its readiness and its end as promises. Nothing of
// its group outlives this agent, however that ends.
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { copyLines } from '../logs/lines.ts';
import type { Log, Stream } from '../logs/log.ts';
import { closeWriteEnd, createPipes } from '../processes/pipes.ts';
import { describeEnd, noteLine } from './exit-reason.ts';
import type { Clues, ExitReason } from './exit-reason.ts';
import type { DaskProcess } from './commands.ts';
import { createWaiters } from '../async/waiters.ts';

export interface RunningProcess {
  pid: number;
  /** Never rejects. */
  ended: Promise<ExitReason>;
  /** Resolves when a worker is known to its scheduler; rejects when it ends before or the time is over. */
  whenRegistered: (timeoutMs: number) => Promise<void>;
  /** Rejects when the process ends before `promise` settles: nobody should wait for what cannot come. */
  orEnded: <T>(promise: Promise<T>) => Promise<T>;
  /** TERM to the whole group, and KILL after the given time. Resolves when it has ended. */
  end: (killAfterMs?: number) => Promise<ExitReason>;
}

export interface RunOptions {
  /** Lines of the process, in its own words. */
  onLines: (stream: Stream, lines: string[]) => void;
  /** Called with the group's number before anything else can happen: whoever cleans up after this agent needs it. */
  started?: (pid: number) => void;
}

/** A nanny waits for its worker's running task before it ends, so a scale-down that drained first is quick anyway. */
const defaultKillAfterMs = 8_000;
/** A process that left the group may hold the pipes open: its output is not waited for longer than this. */
const drainMs = 1_000;

/** Groups that must not outlive this agent. */
const groups = new Set<number>();
process.on('exit', () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
});

export async function runProcess(command: DaskProcess, options: RunOptions): Promise<RunningProcess> {
  await mkdir(command.cwd, { recursive: true, mode: 0o700 });
  for (const { path, content } of command.files) {
    await rm(path, { force: true });
    await writeFile(path, content, { mode: 0o600, flag: 'wx' });
  }
  const changes = createWaiters();
  const clues: Clues = { registered: false, daskReason: null, lastLine: null, endedByUs: false };
  const log = lineLog((stream, lines) => {
    for (const line of lines) noteLine(clues, line);
    options.onLines(stream, lines);
    changes.check();
  });
  const { pid, exited } = await begin(command, log);
  groups.add(pid);
  options.started?.(pid);
  let reason: ExitReason | null = null;
  const ended = exited.then(async ({ exitCode, signal, output }) => {
    signalGroup(pid, 'SIGKILL');
    groups.delete(pid);
    await output();
    reason = describeEnd({ exitCode, signal, clues });
    changes.check();
    return reason;
  });
  const failed = async (): Promise<never> => {
    throw new Error(`the process ended: ${(await ended).text}`);
  };
  return {
    pid,
    ended,
    orEnded: (promise) => Promise.race([promise, failed()]),
    whenRegistered: async (timeoutMs) => {
      const found = await changes.when(() => (clues.registered ? 'registered' : reason), timeoutMs);
      if (found === 'registered') return;
      if (found !== null) throw new Error(`the Dask worker ended before it reached its scheduler: ${found.text}`);
      const last = clues.lastLine === null ? '' : ` The last it said: ${clues.lastLine}`;
      throw new Error(`the Dask worker did not reach its scheduler within ${timeoutMs / 1000} s.${last}`);
    },
    end: async (killAfterMs = defaultKillAfterMs) => {
      if (reason !== null) return reason;
      clues.endedByUs = true;
      signalGroup(pid, 'SIGTERM');
      signalGroup(pid, 'SIGCONT');
      const timer = setTimeout(() => groups.has(pid) && signalGroup(pid, 'SIGKILL'), killAfterMs);
      return ended.finally(() => clearTimeout(timer));
    },
  };
}

interface Exit {
  exitCode: number | null;
  signal: string | null;
  /** Waits, within a limit, until all it wrote has been read. */
  output: () => Promise<void>;
}

async function begin(command: DaskProcess, log: Log): Promise<{ pid: number; exited: Promise<Exit> }> {
  const [file = '', ...args] = command.argv;
  const pipes = createPipes(command.cwd);
  const copied = Promise.all([
    copyLines(pipes.stdout.output, 'stdout', log),
    copyLines(pipes.stderr.output, 'stderr', log),
  ]);
  const output = async (): Promise<void> => {
    await Promise.race([copied, sleep(drainMs, undefined, { ref: false })]);
    pipes.stdout.output.destroy();
    pipes.stderr.output.destroy();
    await copied;
  };
  try {
    const child = spawn(file, args, {
      cwd: command.cwd,
      env: command.env,
      detached: true,
      stdio: ['ignore', pipes.stdout.writeEnd, pipes.stderr.writeEnd],
    });
    const { pid } = child;
    if (pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
    const exited = new Promise<Exit>((resolve) =>
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, output })),
    );
    return { pid, exited };
  } catch (error) {
    pipes.stdout.output.destroy();
    pipes.stderr.output.destroy();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} could not be started: ${why}. Is the Python environment complete?`, { cause: error });
  } finally {
    closeWriteEnd(pipes.stdout);
    closeWriteEnd(pipes.stderr);
  }
}

const lineLog = (append: (stream: Stream, lines: string[]) => void): Log => ({
  write: () => undefined,
  append: (stream, lines) => {
    append(stream, lines);
    return true;
  },
  drained: () => Promise.resolve(),
  close: () => Promise.resolve(),
});

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty already.
  }
}
