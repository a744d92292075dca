// Runs one command as one task. None of its processes outlives its end, except orphaned ones that left its process group; those
// are found when the instance is terminated.
import { setTimeout as sleep } from 'node:timers/promises';

import type { LineSink } from '../logs/lines.ts';
import type { Log } from '../logs/log.ts';
import { InstanceFault, reasonOf } from '../processes/instance-fault.ts';
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
  /** The command never started because of the instance. */
  | { kind: 'unprepared'; reason: string };

export interface TaskRun {
  /** Never rejects. */
  ended: Promise<TaskEnd>;
  /** Sends TERM to the task's process group, and then KILL. */
  end(): void;
}

export interface TaskInput {
  runtime: Pick<Runtime, 'start'>;
  log: Log & Pick<LineSink, 'raw'>;
  /** Directory for the named pipes of the output. */
  pipeDirectory: string;
  /** Resolves with the command to run. */
  prepare: (signal: AbortSignal) => Promise<Command>;
  started: (pid: number) => void;
  /** Called after the command has ended; rejects when its files could not be stored. */
  keepFiles: (signal: AbortSignal) => Promise<void>;
  cleanUp: () => Promise<void>;
  /** The command's time limit. */
  timeoutMs?: number | undefined;
  /** Pauses between preparation attempts on an instance that is short of resources. */
  preparationPausesMs?: readonly number[];
}

/** Between TERM and KILL. The provider waits 3 s for an agent, so this must be less. */
const killAfterMs = 2_000;
/** Between TERM and KILL after the task's time limit, where nothing is urgent. */
const timeoutGraceMs = 10_000;
/** The exit code of coreutils' `timeout`. */
const timedOut = 124;
/** The shell's exit code for it. */
const cannotStart = 127;
/** EX_IOERR of sysexits.h. */
const cannotStore = 74;
/** The directory and processes of an earlier task may still be being removed. */
const defaultPausesMs = [200, 800, 2_000];

export function startTask(input: TaskInput): TaskRun {
  const task: Task = { running: null, ending: new AbortController() };
  const run = async (): Promise<TaskEnd> => {
    const startedAtMs = Date.now();
    const startMs = performance.now();
    const outcome = await kept(await attempt(input, task).catch(failed), input, task.ending.signal);
    if (outcome.reason !== null) input.log.write(outcome.reason);
    await input.log.close();
    await input.cleanUp().catch(() => undefined);
    if (outcome.kind === 'unprepared') return outcome;
    const { exitedAtMs, ...end } = outcome;
    // The duration comes from the monotonic clock, which steps of the wall clock do not affect.
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
      const command = await input.prepare(signal);
      if (signal.aborted) return endedBefore();
      const { log: output, pipeDirectory, started } = input;
      const running = await input.runtime.start(command, { output, pipeDirectory, started });
      task.running = running;
      // The order to end the task may have arrived during its start.
      if (signal.aborted) running.end(killAfterMs);
      return { kind: 'ended', ...(await endWithin(input.timeoutMs, running)) };
    } catch (error) {
      if (!(error instanceof InstanceFault)) throw error;
      if (pauseMs === null) return { kind: 'unprepared', reason: error.message.slice(0, 1000) };
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return endedBefore();
}

/** A task whose files are lost has failed. One that is ended meanwhile keeps its command's result, without them. */
async function kept(outcome: Outcome, input: TaskInput, signal: AbortSignal): Promise<Outcome> {
  // A command that never ran has left no files.
  if (outcome.kind === 'unprepared' || (outcome.reason !== null && outcome.exitCode !== timedOut)) return outcome;
  try {
    await input.keepFiles(signal);
    return outcome;
  } catch (error) {
    const reason = `The files of this task could not be stored: ${reasonOf(error).replace(/\.$/, '')}.`.slice(0, 1000);
    if (outcome.exitCode !== 0) input.log.write(reason);
    return outcome.exitCode === 0 ? { ...outcome, exitCode: cannotStore, reason } : outcome;
  }
}

/** Ends the command at its time limit: TERM, then KILL. It then counts as failed even with exit code 0. */
async function endWithin(limitMs: number | undefined, running: RunningCommand): Promise<Omit<Ended, 'kind'>> {
  let isLate = false;
  const end = (): void => {
    isLate = true;
    running.end(timeoutGraceMs);
  };
  const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs);
  const ended = await running.ended;
  clearTimeout(timer);
  if (!isLate) return { ...ended, reason: null };
  const reason = `The task ran longer than its limit of ${(limitMs ?? 0) / 1_000} s and was ended.`;
  return { ...ended, exitCode: timedOut, signal: null, reason };
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
