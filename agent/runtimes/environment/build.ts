// Fills the directory of a new Python environment: a virtual environment and the packages. No code of the packages runs before
// the environment does, except the build of a source distribution, which uv isolates from the agent's credentials by its
// environment variables.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { PackageFile, PackageIndex } from '../../../schema/software.ts';
import { EnvironmentError } from './errors.ts';
import { makePrivateDirectory, removeAll, writeNew, writePublic } from './files.ts';
import { markerFile } from './in-use.ts';
import { leftOutFiles } from './left-out.ts';
import { modulesPathFile } from './modules-path.ts';
import type { Python } from './python.ts';
import { indexLines, withoutOwnIndex } from './indexes.ts';
import { namedIn } from './requirements.ts';
import { withoutUrlSecrets } from '../../../domain/software/url-text.ts';
import { runTool, type ToolFailure, type Tools } from './run-tool.ts';
import type { StageName } from './stages.ts';
import { ensureUv } from './uv.ts';

export interface Recipe {
  tools: Tools;
  python: Python;
  /** Normalized requirements. */
  requirements: readonly string[];
  /** The requirements are a whole environment: their versions win over the packages' own requirements. */
  pinned: boolean;
  packageFiles: readonly PackageFile[];
  indexes: readonly PackageIndex[];
  /** Constraints with versions and hashes. */
  lock: readonly string[];
  fetchPackageFile: FetchPackageFile;
  /**
   * An environment with the requirements alone, or null for none. A user's own packages change often, the others rarely: the
   * slow part is then done once. Resolves to its directory.
   */
  base: (() => Promise<string>) | null;
  enter: (name: StageName) => void;
}

/** Resolves to the file's bytes, verified by its SHA-256. */
export type FetchPackageFile = (file: PackageFile) => Promise<Uint8Array>;

export const noPackageFiles: FetchPackageFile = () => Promise.reject(new Error('package files are not available here'));

export const pythonIn = (directory: string): string => join(directory, 'bin', 'python');

/** Rejects with an EnvironmentError. The directory exists and is empty. */
export async function buildEnvironment(recipe: Recipe, directory: string): Promise<void> {
  const { tools, python, enter } = recipe;
  const base = recipe.base === null ? null : await recipe.base();
  enter('tools');
  const uv = await ensureUv(tools, python.executable);
  const downloads = join(directory, 'package-files');
  const wheels = await download(recipe, downloads);
  enter('install');
  await startFrom(base, recipe, { uv, directory });
  await install(recipe, { uv, directory, downloads, wheels });
  // A base already has them, and its files are linked.
  if (base === null) await addPathFiles(recipe, directory);
  await removeAll(tools, downloads);
  enter('compile');
  // A separate step instead of uv's --compile-bytecode, so that it is a timed stage; as fast. The exit code is ignored, because
  // files that do not compile are never imported (packages ship templates and old syntax).
  const compile = ['-I', '-m', 'compileall', '-q', '-j', '0', join(directory, 'lib')];
  await runTool(tools, pythonIn(directory), compile, {
    timeoutMs: 10 * 60_000,
  });
}

async function startFrom(
  base: string | null,
  { tools, python, requirements }: Recipe,
  { uv, directory }: { uv: string; directory: string },
): Promise<void> {
  const venv = ['venv', '--quiet', '--no-project', '--relocatable', '--allow-existing', '--python', python.executable];
  const made =
    base === null
      ? await runTool(tools, uv, [...venv, directory], { timeoutMs: 60_000 })
      : await runTool(tools, pythonIn(base), ['-I', '-c', linkTree, base, directory], { timeoutMs: 5 * 60_000 });
  if (!made.ok) throw installError(made.failure, requirements);
}

/**
 * Files are linked, not copied: installers replace files, and never write into one. The marker is excluded, because each
 * environment has its own.
 */
const linkTree = `import os, shutil, sys
base, directory = sys.argv[1:]
ignore = lambda place, names: {"${markerFile}"} if place == base else set()
shutil.copytree(base, directory, symlinks=True, ignore=ignore, copy_function=os.link, dirs_exist_ok=True)
`;

interface Downloaded {
  name: string;
  path: string;
}

async function download({ tools, packageFiles, fetchPackageFile, enter }: Recipe, into: string): Promise<Downloaded[]> {
  if (packageFiles.length === 0) return [];
  enter('download');
  await makePrivateDirectory(tools, into);
  const files: Downloaded[] = [];
  for (const file of packageFiles) {
    const path = join(into, file.name);
    await writeNew(tools, path, await fetchPackageFile(file));
    files.push({ name: file.name, path });
  }
  return files;
}

async function install(
  { tools, requirements, pinned, indexes, lock }: Recipe,
  { uv, directory, downloads, wheels }: { uv: string; directory: string; downloads: string; wheels: Downloaded[] },
): Promise<void> {
  const wanted = [
    ...requirements,
    ...wheels.map(({ name, path }) => `${packageOf(name)} @ ${pathToFileURL(path).href}`),
  ];
  if (wanted.length === 0) return;
  // Passed by stdin or a private file: a requirement may contain a URL with a password, and every user of a machine can read
  // argv.
  const input = `${wanted.join('\n')}\n`;
  const args = ['pip', 'install', '--quiet', '--python', pythonIn(directory), '-r', '-'];
  const [overrides, constraints] = [`${downloads}-overrides.txt`, `${downloads}-constraints.txt`];
  // A user's environment may contain versions that its packages do not allow together, and still work for the user.
  if (pinned) await writeNew(tools, overrides, input);
  if (lock.length > 0) await writeNew(tools, constraints, `${lock.join('\n')}\n`);
  const files = [
    ...(pinned ? ['--overrides', overrides] : []),
    ...(lock.length > 0 ? ['--constraints', constraints] : []),
  ];
  const installed = await runTool(withoutOwnIndex(tools, indexes), uv, [...args, ...files], {
    timeoutMs: 30 * 60_000,
    input: `${indexLines(indexes)}${input}`,
  });
  if (!installed.ok) throw installError(installed.failure, wanted);
  for (const file of files.filter((word) => word.endsWith('.txt'))) await removeAll(tools, file);
}

async function addPathFiles({ tools, python }: Recipe, directory: string): Promise<void> {
  const site = packagesIn(directory, python);
  const files = Object.entries({ ...leftOutFiles, ...modulesPathFile });
  await Promise.all(files.map(([name, text]) => writePublic(tools, join(site, name), text)));
}

function packagesIn(directory: string, { version }: Python): string {
  const [major = 3, minor = 0] = version.split('.');
  return join(directory, 'lib', `python${major}.${minor}`, 'site-packages');
}

/** A wheel's name begins with its package's (the binary distribution format of packaging.python.org). */
const packageOf = (wheel: string): string => wheel.slice(0, wheel.indexOf('-')).replaceAll('_', '-').toLowerCase();

function installError(failure: ToolFailure, requirements: readonly string[]): EnvironmentError {
  const named = namedIn(failure.said, requirements).map(withoutUrlSecrets);
  const isFetching = /Failed to fetch|Request failed|No space left/.test(failure.said);
  const which = named.length === 0 ? 'The requirements' : named.map((one) => `"${one}"`).join(', ');
  return new EnvironmentError(
    named.length > 0 && !isFetching ? 'REQUIREMENT' : 'INSTALL',
    `${which} cannot be installed. uv says:\n${failure.said}`,
    { requirements: named, cause: failure.cause },
  );
}
