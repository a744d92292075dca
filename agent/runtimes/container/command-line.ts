// The command line of an engine that runs one command in a container. Pure. Values of environment variables are never in an
// argument, where every user of the machine could read them: the engine takes them from its own environment by their names,
// or from a file those that it would use itself.
import type { Command } from '../../processes/start-process.ts';
import type { Engine } from './engine.ts';
import { engineVariables } from './engine.ts';

export interface ContainerInput {
  kind: Engine['kind'];
  image: string;
  ignoreEntrypoint: boolean;
  /** Of the container. */
  name: string;
  instance: string;
  command: Command;
  /** For the variables that the engine must not take for its own. */
  envFile: string;
  /** An NVIDIA GPU is there. */
  hasGpu: boolean;
  /** The engine has a program that is the first process of a container, passes signals on and reaps children. */
  hasInit: boolean;
  /** User and group of the command: of tasks, or of the agent. */
  uid: number;
  gid: number;
  /** The daemon is root, and the command is not: it must not become root. */
  isConfined: boolean;
}

export interface EngineCommand {
  args: string[];
  /** Variables of the engine's own environment, beside those it needs to work. */
  env: Record<string, string>;
  /** Content of `envFile`. */
  file: string;
}

/** Containers of an instance carry it with the instance's name. */
export const instanceLabel = 'ropewalk.instance';

/** Throws an Error for a variable that cannot be passed. */
export function engineCommand(input: ContainerInput): EngineCommand {
  const { kind, image, name, instance, command, envFile, ignoreEntrypoint } = input;
  const own = Object.entries(command.env).filter(([variable]) => !isOfEngine(variable));
  const filed = Object.entries(command.env).filter(([variable]) => isOfEngine(variable));
  const mounts = [...new Set([command.cwd, ...(command.mounts ?? [])])];
  const args = [
    ...['run', '--rm', '--pull=never', '--name', name, '--label', `${instanceLabel}=${instance}`],
    // Tasks and Dask processes reach each other by the instance's address, and share memory as processes of a host do.
    ...['--network', 'host', '--ipc', 'host'],
    // The agent reads the output itself; a second copy would fill the disk.
    ...['--log-driver', 'none'],
    // Systems with SELinux would hide the mounted directories.
    ...['--security-opt', 'label=disable'],
    ...['--user', userOf(input)],
    ...(input.isConfined ? ['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'] : []),
    ...(input.hasInit ? ['--init'] : []),
    ...(input.hasGpu ? gpuOptions[kind] : []),
    ...(ignoreEntrypoint ? ['--entrypoint', ''] : []),
    ...mounts.flatMap((path) => ['--volume', `${path}:${path}`]),
    ...['--workdir', command.cwd],
    ...(filed.length === 0 ? [] : ['--env-file', envFile]),
    ...own.flatMap(([variable]) => ['--env', variable]),
    image,
    ...command.argv,
  ];
  return { args, env: Object.fromEntries(own), file: filed.map(lineOf).join('') };
}

/** docker's by the NVIDIA Container Toolkit, podman's by the device files that it writes (CDI). */
const gpuOptions = { podman: ['--device', 'nvidia.com/gpu=all'], docker: ['--gpus', 'all'] };

/**
 * Commands own their directory. podman maps root to the user that runs it; docker does not, and root's files in a task's directory could
 * not be removed.
 */
const userOf = ({ kind, uid, gid }: ContainerInput): string => (kind === 'podman' ? '0:0' : `${uid}:${gid}`);

/** Names that change how an engine, or a program that it starts, works. */
const isOfEngine = (variable: string): boolean =>
  (engineVariables.includes(variable) && variable !== 'ROPEWALK_INSTANCE') ||
  /^(LD_|XDG_|DBUS_|CONTAINER|_?CONTAINERS_|_?PODMAN_|DOCKER_|BUILDAH_|STORAGE_|REGISTRY_|GO[A-Z]|NOTIFY_|LISTEN_)/.test(
    variable,
  );

function lineOf([variable, value]: [string, string]): string {
  if (!/[\r\n]/.test(value)) return `${variable}=${value}\n`;
  throw new Error(`the value of ${variable} has a line break, which container engines do not take for this variable`);
}
