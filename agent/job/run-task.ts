// Runs one command as one task. Nothing of it outlives its end, except orphaned processes: those that left its process group.
// They are found when the instance is terminated.
import type { Log } from '../logs/log.ts';
import type { Command, RunningCommand } from '../processes/start-process.ts';
import type { Runtime } from '../runtimes/runtime.ts';

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
  /** Sends TERM to the task's process group, and then KILL. */
  end(): void;
}

export interface TaskInput {
  runtime: Pick<Runtime, 'start'>;
  command: Command;
  log: Log;
  /** For the named pipes of the output. */
  pipeDirectory: string;
  prepare: () => Promise<void>;
  started: (pid: number) => void;
  cleanUp: () => Promise<void>;
}

/** Between TERM and KILL. The provider waits 3 s for an agent, so this must be less. */
const killAfterMs = 2_000;
/** The exit code that shells use for it. */
const cannotStart = 127;

export function startTask(input: TaskInput): TaskRun {
  const task: Task = { running: null, isEnding: false };
  const run = async (): Promise<TaskEnd> => {
    const startedAtMs = Date.now();
    const startMs = performance.now();
    const outcome = await attempt(input, task).catch(failed);
    if (outcome.reason !== null) input.log.write(outcome.reason);
    await input.log.close();
    await input.cleanUp().catch(() => undefined);
    const { exitCode, signal, reason } = outcome;
    // A step of the wall clock in between must not change how long the task took.
    const tookMs = Math.round(outcome.exitedAtMs - startMs);
    return { exitCode, signal, reason, startedAtMs, endedAtMs: startedAtMs + tookMs };
  };
  const end = (): void => {
    task.isEnding = true;
    task.running?.end(killAfterMs);
  };
  return { ended: run(), end };
}

interface Task {
  running: RunningCommand | null;
  isEnding: boolean;
}

interface Outcome {
  exitCode: number | null;
  signal: string | null;
  exitedAtMs: number;
  reason: string | null;
}

async function attempt(input: TaskInput, task: Task): Promise<Outcome> {
  await input.prepare();
  if (task.isEnding) return endedBefore();
  const { log: output, pipeDirectory, started } = input;
  const running = await input.runtime.start(input.command, { output, pipeDirectory, started });
  task.running = running;
  // The order to end it may have come while it started.
  if (task.isEnding) running.end(killAfterMs);
  return { ...(await running.ended), reason: null };
}

const endedBefore = (): Outcome => ({
  exitCode: null,
  signal: 'SIGTERM',
  exitedAtMs: performance.now(),
  reason: 'The task was ended before it began.',
});

function failed(error: unknown): Outcome {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = explanations[code] ?? '';
  return {
    exitCode: cannotStart,
    signal: null,
    exitedAtMs: performance.now(),
    reason: `The command could not be started: ${text}.${why}`.slice(0, 1000),
  };
}

const explanations: Record<string, string> = {
  ENOENT: ' There is no such program on this instance, or the interpreter in its first line is missing.',
  EACCES: ' The file is not executable.',
  E2BIG: ' Its arguments and environment are larger than the system allows.',
};
