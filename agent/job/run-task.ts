// Runs one command as one task. Nothing of it outlives its end, except orphaned processes: those that left its process group.
// They are found when the instance is terminated.
import { setTimeout as sleep } from 'node:timers/promises';

import type { Log } from '../logs/log.ts';
import { InstanceFault } from '../processes/instance-fault.ts';
import type { Command, RunningCommand } from '../processes/start-process.ts';
import type { Runtime } from '../runtimes/runtime.ts';

export type TaskEnd =
  | {
      kind: 'ended';
      exitCode: number | null;
      signal: string | null;
      startedAtMs: number;
      endedAtMs: number;
      /** Set when the command could not be run. */
      reason: string | null;
    }
  /** The command never began, and the instance is the reason. */
  | { kind: 'unprepared'; reason: string };

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
  /** Between the attempts to prepare it on an instance that is short of something. */
  preparationPausesMs?: readonly number[];
}

/** Between TERM and KILL. The provider waits 3 s for an agent, so this must be less. */
const killAfterMs = 2_000;
/** The exit code that shells use for it. */
const cannotStart = 127;
/** The directory of an earlier task may still be on its way out, and its processes too. */
const defaultPausesMs = [200, 800, 2_000];

export function startTask(input: TaskInput): TaskRun {
  const task: Task = { running: null, ending: new AbortController() };
  const run = async (): Promise<TaskEnd> => {
    const startedAtMs = Date.now();
    const startMs = performance.now();
    const outcome = await attempt(input, task).catch(failed);
    if (outcome.reason !== null) input.log.write(outcome.reason);
    await input.log.close();
    await input.cleanUp().catch(() => undefined);
    if (outcome.kind === 'unprepared') return outcome;
    const { exitedAtMs, ...end } = outcome;
    // A step of the wall clock in between must not change how long the task took.
    return { ...end, startedAtMs, endedAtMs: startedAtMs + Math.round(exitedAtMs - startMs) };
  };
  const end = (): void => {
    task.ending.abort();
    task.running?.end(killAfterMs);
  };
  return { ended: run(), end };
}

interface Task {
  running: RunningCommand | null;
  ending: AbortController;
}

interface Ended {
  kind: 'ended';
  exitCode: number | null;
  signal: string | null;
  /** By `performance.now()`. */
  exitedAtMs: number;
  reason: string | null;
}

type Outcome = Ended | Extract<TaskEnd, { kind: 'unprepared' }>;

async function attempt(input: TaskInput, task: Task): Promise<Outcome> {
  const { signal } = task.ending;
  for (const pauseMs of [...(input.preparationPausesMs ?? defaultPausesMs), null]) {
    try {
      await input.prepare();
      if (signal.aborted) return endedBefore();
      const { log: output, pipeDirectory, started } = input;
      const running = await input.runtime.start(input.command, { output, pipeDirectory, started });
      task.running = running;
      // The order to end it may have come while it started.
      if (signal.aborted) running.end(killAfterMs);
      return { kind: 'ended', ...(await running.ended), reason: null };
    } catch (error) {
      if (!(error instanceof InstanceFault)) throw error;
      if (pauseMs === null) return { kind: 'unprepared', reason: error.message.slice(0, 1000) };
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return endedBefore();
}

const endedBefore = (): Ended => ({
  kind: 'ended',
  exitCode: null,
  signal: 'SIGTERM',
  exitedAtMs: performance.now(),
  reason: 'The task was ended before it began.',
});

function failed(error: unknown): Ended {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const why = explanations[code] ?? '';
  return {
    kind: 'ended',
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
