// Files that a job brings only because its script names them in its lines. The user has chosen the input filestore, and not these
// files, so they give way to its files.

export interface ImplicitFiles<T> {
  kept: T[];
  /** Paths of the files that are left out. */
  replaced: string[];
}

/** Leaves out the implicit files of `files` that cannot lie in one directory with `stored`, the paths of the filestore's files. */
export function giveWay<T extends { path: string; implicit: boolean }>(
  files: readonly T[],
  stored: readonly string[],
): ImplicitFiles<T> {
  const paths = new Set(stored);
  const directories = new Set(stored.flatMap(parentsOf));
  const isTaken = (path: string): boolean =>
    paths.has(path) || directories.has(path) || parentsOf(path).some((parent) => paths.has(parent));
  const kept = files.filter(({ path, implicit }) => !implicit || !isTaken(path));
  return { kept, replaced: files.filter((file) => !kept.includes(file)).map(({ path }) => path) };
}

/** For the user, because a script then runs with another file than the one beside it. */
export function replacedWarning(filestore: string, replaced: readonly string[]): string[] {
  if (replaced.length === 0) return [];
  const shown = replaced.slice(0, 5).join(', ');
  const more = replaced.length > 5 ? ` and ${replaced.length - 5} more` : '';
  return [
    `Tasks get ${shown}${more} of the filestore ${filestore}, not your own files of these paths, which a script only names. To replace those of the filestore, upload yours (--upload).`,
  ];
}

function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
