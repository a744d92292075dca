// Paths of files that come from or go to a task's working directory: byte-exact, or refused. Both sides check them.

/** Bytes of a whole path and of one name: Linux refuses more (PATH_MAX with room for the directory, NAME_MAX). */
export const maxPathBytes = 1_024;
const maxNameBytes = 255;

/** True for a relative path of real names, which stays below the directory that it is joined to. */
export function isFilePath(path: string): boolean {
  // A lone surrogate has no UTF-8: it would come back as another name.
  if (path.includes('\0') || !path.isWellFormed() || utf8Bytes(path) > maxPathBytes) return false;
  return path
    .split('/')
    .every((name) => name !== '' && name !== '.' && name !== '..' && utf8Bytes(name) <= maxNameBytes);
}

/** The directories that a path lies in, outermost first. */
export function parentsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The first of `paths` that cannot lie in one directory with one of `others`: they are the same, or one is a file in the other's way. */
export function findClash(
  paths: readonly string[],
  others: readonly string[],
): { index: number; other: string } | null {
  const files = new Set(others);
  const below = new Map(others.flatMap((other) => parentsOf(other).map((parent) => [parent, other] as const)));
  for (const [index, path] of paths.entries()) {
    const other = [...parentsOf(path), path].find((each) => files.has(each)) ?? below.get(path);
    if (other !== undefined) return { index, other };
  }
  return null;
}

/** The same among `paths` themselves. */
export function findOwnClash(paths: readonly string[]): { index: number; other: string } | null {
  const all = new Set<string>();
  for (const [index, path] of paths.entries()) {
    if (all.has(path)) return { index, other: path };
    all.add(path);
  }
  for (const [index, path] of paths.entries()) {
    const other = parentsOf(path).find((parent) => all.has(parent));
    if (other !== undefined) return { index, other };
  }
  return null;
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
