// Checks the files of this machine that the header and the lines of a script name. A script that runs on instances has no right to this machine:
// the files that it reads and writes here lie in the directory of the command, unless the command line names the same place.
import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

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
      if (allowed.has(place)) continue;
      const found = await where(place);
      if (found !== 'own') throw refused(option, path, found);
      const link = sendsContent.includes(option) ? await foreignLink(place, where) : null;
      if (link !== null) throw refusedLink(option, path, { ...link, path: join(path, relative(place, link.path)) });
    }
  }
}

/** Options that send all files of a directory. */
const sendsContent = ['upload', 'sync'];

type Place = 'own' | 'outside' | 'hidden';
type Where = (place: string) => Promise<Place>;

interface ForeignLink {
  path: string;
  leadsTo: Exclude<Place, 'own'>;
}

/** The first link in a directory to a place that the header may not name. An upload follows links, so this search does too. */
async function foreignLink(directory: string, where: Where, visited = new Set<string>()): Promise<ForeignLink | null> {
  const real = await realpath(directory).catch(() => directory);
  if (visited.has(real)) return null;
  visited.add(real);
  // The upload reports a directory that is unreadable, and sends a file.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    const leadsTo = entry.isSymbolicLink() ? await where(path) : 'own';
    if (leadsTo !== 'own') return { path, leadsTo };
    const isDirectory = entry.isSymbolicLink() ? await isDirectoryAt(path) : entry.isDirectory();
    const found = isDirectory ? await foreignLink(path, where, visited) : null;
    if (found !== null) return found;
  }
  return null;
}

const isDirectoryAt = async (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );

/** For absolute paths, also where links lead. Hidden files start programs or hold keys. */
export async function ownPlaces({ cwd, env }: Pick<CliContext, 'cwd' | 'env'>): Promise<Where> {
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

const refused = (option: string, path: string, place: ForeignLink['leadsTo']) =>
  new UsageError(
    `the script's header has ${option} ${path}, which is ${place === 'outside' ? 'outside the current directory' : hiddenPlace}`,
    `If you want that, give it yourself: --${option} ${path}`,
  );

const refusedLink = (option: string, path: string, link: ForeignLink) =>
  new UsageError(
    `the script's header has ${option} ${path}, and its link ${link.path} leads ${link.leadsTo === 'outside' ? 'outside the current directory' : `to ${hiddenPlace}`}`,
    `Remove the link. If you want to send what it leads to, give the directory yourself: --upload ${path}`,
  );

const hiddenPlace = 'a hidden file of your home directory, or all of it';
