// Runs one Dask process: its output as lines, its readiness and its end as promises. No member of its process group outlives
// this agent, however the agent ends.
import { mkdir, writeFile } from 'node:fs/promises';

import { createWaiters } from '../async/waiters.ts';
import type { LineSink } from '../logs/lines.ts';
import type { Stream } from '../logs/log.ts';
import { handOver } from '../processes/hand-over.ts';
import type { TaskUser } from '../processes/task-user.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { DaskProcess } from './commands.ts';
import { asFailure } from './failure.ts';
import { describeEnd, noClues, noteLine } from './exit-reason.ts';
import type { ExitReason } from './exit-reason.ts';

export interface RunningProcess {
  pid: number;
  /** Never rejects. */
  ended: Promise<ExitReason>;
  /** Resolves when its scheduler knows all its workers; rejects when it ends before that, or after the timeout. */
  whenRegistered: (timeoutMs: number, workers?: number) => Promise<void>;
  /** Rejects when the process ends before `promise` settles, because the result could never arrive. */
  orEnded: <T>(promise: Promise<T>) => Promise<T>;
  /** Sends TERM to the whole group, and KILL after the given time. Resolves when it has ended. */
  end: (killAfterMs?: number) => Promise<ExitReason>;
}

export interface RunOptions {
  runtime: Pick<Runtime, 'start'>;
  /** The process's user; null for the agent's own. */
  user: TaskUser | null;
  /** For the named pipes of the output: a directory that only the agent can write. */
  pipeDirectory: string;
  /** Output lines of the process, unchanged. */
  onLines: (stream: Stream, lines: string[]) => void;
  /** Called with the group's number before the process can end: cleanup after this agent's death needs it. */
  started?: (pid: number) => void;
}

/** A nanny waits for its worker's running task before it ends, so a scale-down that drained first is fast anyway. */
const defaultKillAfterMs = 8_000;

/** Creates the command's working directory. It must not exist, because an existing one may contain links to anywhere. */
export async function runProcess(command: DaskProcess, options: RunOptions): Promise<RunningProcess> {
  await mkdir(command.cwd, { mode: 0o700 });
  for (const { path, content } of command.files) await writeFile(path, content, { mode: 0o600, flag: 'wx' });
  await handOver(options.user, command.cwd);
  const changes = createWaiters();
  const clues = noClues();
  const output: LineSink = {
    append: (stream, lines) => {
      for (const line of lines) noteLine(clues, line);
      options.onLines(stream, lines);
      changes.check();
      return true;
    },
    drained: () => Promise.resolve(),
  };
  const running = await start(command, output, options);
  let reason: ExitReason | null = null;
  const ended = running.ended.then(({ exitCode, signal }) => {
    reason = describeEnd({ exitCode, signal, clues });
    changes.check();
    return reason;
  });
  const failed = async (): Promise<never> => {
    throw asFailureOf(await ended, 'the process ended');
  };
  return {
    pid: running.pid,
    ended,
    orEnded: (promise) => Promise.race([promise, failed()]),
    whenRegistered: async (timeoutMs, workers = 1) => {
      const found = await changes.when(() => (clues.registered >= workers ? 'registered' : reason), timeoutMs);
      if (found === 'registered') return;
      if (found !== null) throw asFailureOf(found, 'the Dask worker ended before it reached its scheduler');
      const last = clues.lastLine === null ? '' : ` Its last line: ${clues.lastLine}`;
      throw new Error(`the Dask worker did not reach its scheduler within ${timeoutMs / 1000} s.${last}`);
    },
    end: async (killAfterMs = defaultKillAfterMs) => {
      if (reason !== null) return reason;
      clues.endedByUs = true;
      running.end(killAfterMs);
      return ended;
    },
  };
}

function asFailureOf({ text, isProgramError }: ExitReason, what: string): Error {
  const error = new Error(`${what}: ${text}`);
  return isProgramError ? asFailure('PROGRAM_ERROR', error) : error;
}

async function start(command: DaskProcess, output: LineSink, { runtime, pipeDirectory, started }: RunOptions) {
  try {
    const options = { output, pipeDirectory, ...(started === undefined ? {} : { started }) };
    return await runtime.start(command, options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const [file = ''] = command.argv;
    throw new Error(`${file} could not be started: ${why}. Is the Python environment complete?`, { cause: error });
  }
}
