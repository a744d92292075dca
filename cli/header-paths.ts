// Checks the files of this machine that the header and the lines of a script name. A script that runs on instances has no right to this machine:
// the files that it reads and writes here lie in the directory of the command, unless the command line names the same place.
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
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
  const where = await ownPlaces({ cwd, env });
  for (const [option, paths] of Object.entries(asked)) {
    for (const path of paths) {
      const place = resolve(cwd, path);
      const found = allowed.has(place) ? 'own' : await where(place);
      if (found !== 'own') throw refused(option, path, found === 'outside');
    }
  }
}

/** For absolute paths, also where links lead. Hidden files start programs or hold keys. */
export async function ownPlaces({
  cwd,
  env,
}: Pick<CliContext, 'cwd' | 'env'>): Promise<(place: string) => Promise<'own' | 'outside' | 'hidden'>> {
  const root = await realpath(cwd);
  const home = await realpath(env['HOME'] || homedir()).catch(() => sep);
  return async (place) => {
    const inside = relative(root, await realPlace(place));
    const names = inside === '' ? [] : inside.split(sep);
    if (names[0] === '..' || isAbsolute(inside)) return 'outside';
    return isHidden(resolve(root, inside), home) ? 'hidden' : 'own';
  };
}

/** Below a hidden entry of the home directory, whatever the current directory is; also a directory that contains the home directory. */
function isHidden(real: string, home: string): boolean {
  const names = relative(home, real).split(sep);
  if (names.every((name) => name === '' || name === '..')) return true;
  return names[0] !== '..' && names[0]?.startsWith('.') === true;
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
