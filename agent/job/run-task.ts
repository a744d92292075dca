// Runs one command as one task: in its own process group, its output split into lines. Nothing of it outlives its end
// except what left the group on purpose; that is found by its environment when the instance is terminated.
import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { copyLines } from '../logs/lines.ts';
import type { Log } from '../logs/log.ts';
import { closeWriteEnd, createPipes } from '../processes/pipes.ts';
import type { Pipe } from '../processes/pipes.ts';

export interface TaskEnd {
  exitCode: number | null;
  signal: string | null;
  startedAtMs: number;
  endedAtMs: number;
  /** Set when the command could not be run. */
  reason: string | null;
}

export interface TaskRun {
  /** Never rejects. */
  ended: Promise<TaskEnd>;
  /** TERM to the whole group, then KILL. */
  end(): void;
}

export interface TaskInput {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  log: Log;
  /** For named pipes, which exist only for an instant. */
  pipeDirectory: string;
  prepare: () => Promise<void>;
  started: (pid: number) => void;
  cleanUp: () => Promise<void>;
}

/** Between TERM and KILL. The provider waits 3 s for an agent, so this must be less. */
const killAfterMs = 2_000;
/** A process that left the group may hold the pipes open: its output is not waited for longer than this. */
const drainMs = 1_000;
/** As shells have it. */
const cannotStart = 127;

/** Groups that must not outlive this process, however it ends. */
const groups = new Set<number>();
process.on('exit', () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
});

export function startTask(input: TaskInput): TaskRun {
  const handle: Handle = { pid: null, isEnding: false };
  const end = (): void => {
    handle.isEnding = true;
    const { pid } = handle;
    if (pid === null) return;
    signalGroup(pid, 'SIGTERM');
    signalGroup(pid, 'SIGCONT');
    setTimeout(() => groups.has(pid) && signalGroup(pid, 'SIGKILL'), killAfterMs).unref();
  };
  const run = async (): Promise<TaskEnd> => {
    const startedAtMs = Date.now();
    const outcome = await attempt(input, handle).catch(failed);
    if (outcome.reason !== null) input.log.write(outcome.reason);
    const endedAtMs = Date.now();
    await input.log.close();
    await input.cleanUp().catch(() => undefined);
    return { ...outcome, startedAtMs, endedAtMs };
  };
  return { ended: run(), end };
}

interface Handle {
  /** While the command runs: afterwards its number may be a stranger's. */
  pid: number | null;
  isEnding: boolean;
}

type Outcome = Pick<TaskEnd, 'exitCode' | 'signal' | 'reason'>;

async function attempt(input: TaskInput, handle: Handle): Promise<Outcome> {
  await input.prepare();
  if (handle.isEnding) return { exitCode: null, signal: 'SIGTERM', reason: 'The task was ended before it began.' };
  const [file, ...args] = input.argv;
  if (file === undefined || file === '') throw new Error('the command is empty');
  const pipes = createPipes(input.pipeDirectory);
  const copied = Promise.all([
    copyLines(pipes.stdout.output, 'stdout', input.log),
    copyLines(pipes.stderr.output, 'stderr', input.log),
  ]);
  try {
    const stdio: StdioOptions = ['ignore', pipes.stdout.writeEnd, pipes.stderr.writeEnd];
    const exit = await begin(() => spawn(file, args, { cwd: input.cwd, env: input.env, detached: true, stdio }), pipes);
    groups.add(exit.pid);
    handle.pid = exit.pid;
    input.started(exit.pid);
    return await exit.outcome;
  } finally {
    // What the command left running in its group would use the next task's time.
    if (handle.pid !== null) signalGroup(handle.pid, 'SIGKILL');
    if (handle.pid !== null) groups.delete(handle.pid);
    handle.pid = null;
    await Promise.race([copied, sleep(drainMs, undefined, { ref: false })]);
    pipes.stdout.output.destroy();
    pipes.stderr.output.destroy();
    await copied;
  }
}

/** Our write ends are closed in any case, or the output would never end. */
async function begin(
  start: () => ChildProcess,
  pipes: { stdout: Pipe; stderr: Pipe },
): Promise<{ pid: number; outcome: Promise<Outcome> }> {
  try {
    const child = start();
    const { pid } = child;
    if (pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
    const outcome = new Promise<Outcome>((resolve) =>
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, reason: null })),
    );
    return { pid, outcome };
  } finally {
    closeWriteEnd(pipes.stdout);
    closeWriteEnd(pipes.stderr);
  }
}

function failed(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = explanations[code] ?? '';
  return {
    exitCode: cannotStart,
    signal: null,
    reason: `The command could not be started: ${text}.${why}`.slice(0, 1000),
  };
}

const explanations: Record<string, string> = {
  ENOENT: ' There is no such program on this instance, or the interpreter in its first line is missing.',
  EACCES: ' The file is not executable.',
  E2BIG: ' Its arguments and environment are larger than the system allows.',
};

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty already.
  }
}
