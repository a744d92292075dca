// Images of containers made without a registry: from programs and libraries of this machine. The engine is podman with runc,
// whose configuration holds the needs of a machine with hybrid control groups and low limits.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const configuration = `[engine]
runtime = "runc"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
`;

/** Whether this machine can run containers for tests. */
export async function hasPodman(): Promise<boolean> {
  const found = await Promise.all([run('podman', ['--version']), run('runc', ['--version'])]).catch(() => null);
  return found !== null;
}

/** Writes podman's configuration; returns the value of CONTAINERS_CONF. */
export async function podmanConfiguration(directory: string): Promise<string> {
  const path = join(directory, 'containers.conf');
  await writeFile(path, configuration);
  return path;
}

export async function podman(configurationPath: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('podman', args, { env: { ...process.env, CONTAINERS_CONF: configurationPath } });
  return stdout.trim();
}

/** Ids of an instance's containers, running or not. */
export const containersOf = async (configurationPath: string, instance: string): Promise<string[]> => {
  const filter = `label=ropewalk.instance=${instance}`;
  const listed = await podman(configurationPath, 'ps', '--all', '--quiet', '--filter', filter);
  return listed.split('\n').filter((line) => line !== '');
};

export interface ImageContent {
  /** Programs of this machine, with the libraries that they load. */
  programs: readonly string[];
  /** Directories of this machine, by their place in the image. */
  trees?: Readonly<Record<string, string>>;
  /** Links, by their place in the image. */
  links?: Readonly<Record<string, string>>;
}

/** Names the image; an earlier one of that name is replaced. */
export async function importImage(configurationPath: string, name: string, content: ImageContent): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'ropewalk-image-'));
  try {
    for (const directory of ['tmp', 'proc', 'sys', 'dev', 'etc', 'root']) await mkdir(join(root, directory));
    for (const [place, source] of Object.entries(content.trees ?? {})) {
      await cp(source, join(root, place), { recursive: true, verbatimSymlinks: true, filter: isNeeded });
    }
    for (const program of content.programs) await copyProgram(root, program);
    const links = Object.entries(content.links ?? {});
    for (const [place, target] of links) {
      await mkdir(dirname(join(root, place)), { recursive: true });
      await run('ln', ['-sfn', target, join(root, place)]);
    }
    const archive = `${root}.tar`;
    await run('tar', ['-C', root, '-cf', archive, '.']);
    await podman(configurationPath, 'import', archive, name).finally(() => rm(archive));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const isNeeded = (path: string): boolean => !/\/(__pycache__|test|idlelib|ensurepip)(\/|$)/.test(path);

async function copyProgram(root: string, program: string): Promise<void> {
  for (const file of [program, ...(await librariesOf(program))]) {
    const target = join(root, file);
    await mkdir(dirname(target), { recursive: true });
    await cp(await realpath(file), target, { force: true });
  }
}

/** As the loader finds them. A script and a static program have none. */
async function librariesOf(program: string): Promise<string[]> {
  const magic = (await readFile(program)).subarray(0, 4).toString('latin1');
  if (magic !== '\x7fELF') return [];
  const listed = await run('ldd', [program]).then(
    ({ stdout }) => stdout,
    () => '',
  );
  return [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
}
