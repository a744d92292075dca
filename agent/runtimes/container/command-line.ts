// The command line of an engine that runs one command in a container. Pure. Values of environment variables are never in an
// argument, where every user of the machine could read them: the engine copies them by name from its own environment, or reads
// them from a file where they would affect the engine itself.
import type { Command } from '../../processes/start-process.ts';
import type { Engine } from './engine.ts';
import { engineVariables } from './engine.ts';

export interface ContainerInput {
  kind: Engine['kind'];
  image: string;
  ignoreEntrypoint: boolean;
  /** The container's name. */
  name: string;
  instance: string;
  command: Command;
  /** For variables that would affect the engine itself. */
  envFile: string;
  /** The instance has an NVIDIA GPU. */
  hasGpu: boolean;
  /** The engine has an init program that passes signals on and reaps children. */
  hasInit: boolean;
  /** User and group of the command: those of tasks, or of the agent. */
  uid: number;
  gid: number;
  /** The daemon is root, and the command is not and must not become root. */
  isConfined: boolean;
}

export interface EngineCommand {
  args: string[];
  /** Variables of the engine's own environment, in addition to those it needs to work. */
  env: Record<string, string>;
  /** Content of `envFile`. */
  file: string;
}

/** The label of an instance's containers; its value is the instance's name. */
export const instanceLabel = 'ropewalk.instance';

/** Throws an Error for a variable that cannot be passed. */
export function engineCommand(input: ContainerInput): EngineCommand {
  const { kind, image, name, instance, command, envFile, ignoreEntrypoint } = input;
  const own = Object.entries(command.env).filter(([variable]) => !isOfEngine(variable));
  const filed = Object.entries(command.env).filter(([variable]) => isOfEngine(variable));
  const mounts = [...new Set([command.cwd, ...(command.mounts ?? [])])];
  const args = [
    ...['run', '--rm', '--pull=never', '--name', name, '--label', `${instanceLabel}=${instance}`],
    // Tasks and Dask processes use the instance's address and share memory like processes of the host.
    ...['--network', 'host', '--ipc', 'host'],
    // The agent reads the output itself; a second copy would fill the disk.
    ...['--log-driver', 'none'],
    // SELinux would hide the mounted directories.
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

/** docker uses the NVIDIA Container Toolkit, podman the device files that it writes (CDI). */
const gpuOptions = { podman: ['--device', 'nvidia.com/gpu=all'], docker: ['--gpus', 'all'] };

/**
 * Commands own their directory. podman maps root to its own user; docker does not, and root's files in a task's directory could
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
