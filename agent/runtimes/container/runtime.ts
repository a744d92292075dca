// The runtime `container`: each command runs in its own container, with its directory at the same path, the host's network, and
// the exit code, signals and output of a host process.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { ContainerSpec } from '../../../schema/container.ts';
import { startProcess, type Command, type RunningCommand, type StartOptions } from '../../processes/start-process.ts';
import { writeFor } from '../../processes/hand-over.ts';
import type { TaskUser } from '../../processes/task-user.ts';
import { defined, proxies } from '../inherited-variables.ts';
import type { Runtime } from '../runtime.ts';
import { engineCommand } from './command-line.ts';
import { removeNow } from './containers.ts';
import { engineWords, type Engine } from './engine.ts';

export interface ContainerPlace {
  engine: Engine;
  spec: ContainerSpec;
  instance: string;
  /** The user of tasks; null for the agent's own user. */
  user: TaskUser | null;
  hasGpu: boolean;
  hasInit: boolean;
  /** Path in the image. */
  python: string;
}

export const containerRuntime = (place: ContainerPlace): Runtime => ({
  python: place.python,
  // PATH and HOME are the image's own.
  variables: (inherited, own) => ({ ...defined(proxies(inherited)), ...own }),
  start: (command, options) => startContainer(place, command, options),
});

async function startContainer(place: ContainerPlace, command: Command, options: StartOptions): Promise<RunningCommand> {
  const { engine, spec, instance, user, hasGpu, hasInit } = place;
  const name = `ropewalk-${instance}-${randomBytes(6).toString('hex')}`;
  const envFile = join(options.pipeDirectory, `${name}.env`);
  const isConfined = user !== null && engine.user === null;
  // The image's HOME belongs to root, which a confined command is not.
  const inside = isConfined ? { ...command, env: { HOME: command.cwd, ...command.env } } : command;
  const { args, env, file } = engineCommand({
    ...{
      kind: engine.kind,
      image: spec.image,
      ignoreEntrypoint: spec.ignoreEntrypoint,
      name,
      instance,
      command: inside,
      envFile,
    },
    ...{ hasGpu, hasInit, uid: user?.uid ?? process.getuid?.() ?? 0, gid: user?.gid ?? process.getgid?.() ?? 0 },
    isConfined,
  });
  const { cwd } = command;
  const inEngine: Command = {
    ...{ argv: [...engineWords(engine), ...args], env: { ...env, ...engine.environment }, cwd },
    ...(user !== null && engine.user !== null ? { user } : {}),
  };
  let isEnding = false;
  try {
    if (file !== '') await writeFor(engine.user, envFile, file);
    const running = await startProcess(inEngine, options);
    const ended = running.ended.then(async (exit) => {
      await rm(envFile, { force: true });
      // The client carries out --rm, or the monitor after the client has ended. Neither is certain after a signal.
      if (isEnding || exit.signal !== null) await removeNow(engine, [name]);
      return exit;
    });
    const end = (killAfterMs: number): void => {
      isEnding = true;
      running.end(killAfterMs);
    };
    return { pid: running.pid, ended, end };
  } catch (error) {
    await rm(envFile, { force: true });
    throw error;
  }
}
