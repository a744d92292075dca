// Restricts the paths in a script's header, which name files of this machine. Running a script on instances does not grant it
// access to this machine: its header may only read and write in the command's directory, unless the command line names the same
// path.
import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';

import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';

/** `asked`: paths by the header's option; `given`: the command line's paths for the same options. @throws UsageError */
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
      // Hidden files of a home directory contain startup scripts and keys.
      const isOfHome = root === home && (names.length === 0 || names[0]?.startsWith('.') === true);
      if (isOutside || isOfHome) throw refused(option, path, isOutside);
    }
  }
}

/** Resolves links, also in a path of which only the beginning exists. */
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
