// Starts a command as the leader of its own process group, with its output as lines. No member of the group outlives the
// leader, nor this agent, however the agent ends.
import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { fchownSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { copyLines } from '../logs/lines.ts';
import type { LineSink } from '../logs/lines.ts';
import { InstanceFault, isExhaustion } from './instance-fault.ts';
import { closeWriteEnd, createPipes } from './pipes.ts';
import { signalGroup } from './signal-group.ts';
import type { TaskUser } from './task-user.ts';

export interface Command {
  argv: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Other directories that the command uses; a container mounts them at the same paths. */
  mounts?: readonly string[];
  /** The command's user and the owner of `cwd`; absent for the agent's own user. */
  user?: TaskUser;
}

export interface StartOptions {
  output: LineSink;
  /** For the named pipes of the output: a directory that only the agent can write. */
  pipeDirectory: string;
  /** Called with the group's number before the command can end: cleanup after this agent's death needs it. */
  started?: (pid: number) => void;
}

export interface RunningCommand {
  /** Pid of the leader, which is the number of its group. */
  pid: number;
  /** Resolves when the leader has exited, its group is killed and its output is read. Never rejects. */
  ended: Promise<Exit>;
  /** Sends TERM to the group, and KILL after this many milliseconds. No effect after the leader has exited. */
  end: (killAfterMs: number) => void;
}

export interface Exit {
  exitCode: number | null;
  signal: string | null;
  /** By `performance.now()`. */
  exitedAtMs: number;
}

/** An orphan outside the group may hold the pipes open: its output is not awaited for longer than this. */
const drainMs = 1_000;

/** A running leader. Compared by identity, because the number may be reused after its exit. */
interface Group {
  pid: number;
}

const groups = new Set<Group>();
process.on('exit', () => {
  for (const { pid } of groups) signalGroup(pid, 'SIGKILL');
});

/** Rejects, with nothing left open, when the command does not start; with an InstanceFault where the instance is the reason. */
export async function startProcess(command: Command, options: StartOptions): Promise<RunningCommand> {
  const [file, ...args] = command.argv;
  if (file === undefined || file === '') throw new Error('the command is empty');
  const pipes = pipesFor(options.pipeDirectory);
  const copied = Promise.all([
    copyLines(pipes.stdout.output, 'stdout', options.output),
    copyLines(pipes.stderr.output, 'stderr', options.output),
  ]);
  const closeOutput = async (): Promise<void> => {
    pipes.stdout.output.destroy();
    pipes.stderr.output.destroy();
    await copied;
  };
  const stdio: StdioOptions = ['ignore', pipes.stdout.writeEnd, pipes.stderr.writeEnd];
  const { cwd, env, user } = command;
  try {
    const { pid, exited } = await begin({
      start: () => {
        if (user !== undefined) givePipes(user, pipes);
        return spawn(file, args, { cwd, env, detached: true, stdio, ...idsOf(user) });
      },
      pipes,
      cwd,
    });
    const group: Group = { pid };
    groups.add(group);
    const ended = exited.then(async (exit) => {
      signalGroup(pid, 'SIGKILL');
      groups.delete(group);
      await Promise.race([copied, sleep(drainMs, undefined, { ref: false })]);
      await closeOutput();
      return exit;
    });
    options.started?.(pid);
    return { pid, ended, end: (killAfterMs) => endGroup(group, killAfterMs) };
  } catch (error) {
    await closeOutput();
    throw error;
  }
}

const idsOf = (user: TaskUser | undefined): { uid?: number; gid?: number } =>
  user === undefined ? {} : { uid: user.uid, gid: user.gid };

/** A command may reopen its output by name, as shells do for /dev/stderr. */
function givePipes(user: TaskUser, pipes: Pipes): void {
  for (const { writeEnd } of [pipes.stdout, pipes.stderr]) fchownSync(writeEnd, user.uid, user.gid);
}

function pipesFor(directory: string): Pipes {
  try {
    return createPipes(directory);
  } catch (error) {
    throw new InstanceFault('the pipes of its output could not be made', error);
  }
}

type Pipes = ReturnType<typeof createPipes>;

/** This process always closes its write ends, or the output would never end. */
async function begin({
  start,
  pipes,
  cwd,
}: {
  start: () => ChildProcess;
  pipes: Pipes;
  cwd: string;
}): Promise<{ pid: number; exited: Promise<Exit> }> {
  try {
    // No await until the listeners are attached: a failed start is reported in the next tick.
    const child = start();
    const { pid } = child;
    if (pid === undefined) throw await spawnError(child);
    const exited = new Promise<Exit>((resolve) =>
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, exitedAtMs: performance.now() })),
    );
    return { pid, exited };
  } catch (error) {
    throw await startError(error, cwd);
  } finally {
    closeWriteEnd(pipes.stdout);
    closeWriteEnd(pipes.stderr);
  }
}

/** Of a failed start that Node reports as an event; it throws the others. */
const spawnError = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('error', resolve));

async function startError(error: unknown, cwd: string): Promise<unknown> {
  if (isExhaustion(error)) return new InstanceFault('the system started no process', error);
  // The agent made the directory for this command. Without it the system reports the same codes as without the program.
  const trouble = await troubleOf(cwd);
  return trouble === null ? error : new InstanceFault("the command's directory cannot be used", trouble);
}

const troubleOf = (directory: string): Promise<unknown> =>
  stat(directory).then(
    (found) => (found.isDirectory() ? null : 'it is a file'),
    (error: unknown) => error,
  );

function endGroup(group: Group, killAfterMs: number): void {
  if (!groups.has(group)) return;
  signalGroup(group.pid, 'SIGTERM');
  // A stopped process handles TERM only after it is continued.
  signalGroup(group.pid, 'SIGCONT');
  setTimeout(() => groups.has(group) && signalGroup(group.pid, 'SIGKILL'), killAfterMs).unref();
}
