// The header of a script names files of this machine. Who runs a script on instances has not given it this machine: what its header reads
// and writes lies in the directory of the command, unless the command line names the same place.
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';

import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';

/** `asked`: paths by the header's option; `given`: those that the command line has for the same options. @throws UsageError */
export async function checkHeaderPaths(
  asked: Readonly<Record<string, readonly string[]>>,
  given: readonly string[],
  { cwd, env }: Pick<CliContext, 'cwd' | 'env'>,
): Promise<void> {
  const allowed = new Set(given.map((path) => resolve(cwd, path)));
  const root = await realpath(cwd);
  const home = await realpath(env['HOME'] || sep).catch(() => sep);
  for (const [option, paths] of Object.entries(asked)) {
    for (const path of paths) {
      const place = resolve(cwd, path);
      if (allowed.has(place)) continue;
      const inside = relative(root, await realPlace(place));
      const names = inside === '' ? [] : inside.split(sep);
      const isOutside = names[0] === '..' || isAbsolute(inside);
      // A home directory has what starts programs, and keys, in hidden files.
      const isOfHome = root === home && (names.length === 0 || names[0]?.startsWith('.') === true);
      if (isOutside || isOfHome) throw refused(option, path, isOutside);
    }
  }
}

/** Where links lead, also of a path of which only the beginning exists. */
async function realPlace(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null || dirname(path) === path) return real ?? path;
  return resolve(await realPlace(dirname(path)), relative(dirname(path), path));
}

const refused = (option: string, path: string, isOutside: boolean) =>
  new UsageError(
    `the script's header has ${option} ${path}, which is ${isOutside ? 'outside the current directory' : 'a hidden file of your home directory, or all of it'}`,
    `If you want that, give it yourself: --${option} ${path}`,
  );
