// The container engine of an instance: podman, else docker. It only gets those of the agent's variables by which an engine
// finds its configuration, its storage and the network. Where the agent is root, podman runs as the user of tasks: root in a
// container is then that user, with no more rights on the machine than a task without a container.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { makeOwned } from '../../processes/hand-over.ts';
import type { TaskUser } from '../../processes/task-user.ts';
import { defined, network, ordinary, pick } from '../inherited-variables.ts';
import type { Variables } from '../runtime.ts';

export interface Engine {
  kind: 'podman' | 'docker';
  environment: Record<string, string>;
  /** podman's user; null for the agent's own user, and for docker, whose daemon is root. */
  user: Pick<TaskUser, 'uid' | 'gid'> | null;
}

export type EngineOutcome = { ok: true; stdout: string } | { ok: false; said: string };

/** The agent's variables that an engine gets. */
export const engineVariables = [
  ...[...ordinary, 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF', 'CONTAINERS_REGISTRIES_CONF', 'CONTAINER_HOST'],
  ...['DOCKER_HOST', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
  ...[...network, 'ROPEWALK_INSTANCE'],
];

export interface EnginePlace {
  /** The instance's directory. */
  directory: string;
  environment: Variables;
  user: TaskUser | null;
}

/** The first working engine; null when there is none. docker works only when its daemon answers. */
export async function findEngine({ directory, environment: own, user }: EnginePlace): Promise<Engine | null> {
  const environment = defined(pick(own, engineVariables));
  const podman = user === null ? environment : { ...environment, ...(await homeOf(user, directory)) };
  const engines: Engine[] = [
    { kind: 'podman', environment: podman, user },
    { kind: 'docker', environment, user: null },
  ];
  for (const engine of engines) {
    const { kind } = engine;
    const answer = await runEngine(engine, ['info', '--format', operatingSystem[kind]], 30_000);
    if (answer.ok) return engine;
  }
  return null;
}

/** The user has no login session, so the system has not created a directory for its sockets. */
async function homeOf(user: TaskUser, directory: string): Promise<Record<string, string>> {
  const run = join(directory, 'podman');
  await makeOwned(user, run);
  return { HOME: user.home, XDG_RUNTIME_DIR: run };
}

/** The first words of a command line. Without a login session, podman has no systemd for control groups. */
export const engineWords = ({ kind, user }: Pick<Engine, 'kind' | 'user'>): [string, ...string[]] =>
  user === null ? [kind] : [kind, '--cgroup-manager=cgroupfs'];

/** A field that only a working engine returns. */
const operatingSystem = { podman: '{{.Host.OS}}', docker: '{{.OSType}}' };

/** Never rejects, except with the reason of an aborted `signal`. */
export async function runEngine(
  engine: Engine,
  args: readonly string[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<EngineOutcome> {
  try {
    const [program, ...first] = engineWords(engine);
    const { stdout } = await promisify(execFile)(program, [...first, ...args], {
      env: engine.environment,
      cwd: '/',
      ...(engine.user === null ? {} : { uid: engine.user.uid, gid: engine.user.gid }),
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 16 * 1024 * 1024,
      ...(signal === undefined ? {} : { signal }),
    });
    return { ok: true, stdout };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof Error)) return { ok: false, said: String(error) };
    const stderr = 'stderr' in error ? String(error.stderr).trim() : '';
    const wasKilled = 'killed' in error && error.killed === true;
    const timeout = wasKilled ? `it was ended after ${Math.round(timeoutMs / 1_000)} s. ` : '';
    return { ok: false, said: `${timeout}${stderr === '' ? error.message : stderr.slice(-1_000)}` };
  }
}
