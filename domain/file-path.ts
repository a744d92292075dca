// Paths of files that are copied to or from a task's working directory: kept byte for byte, or refused. Both sides check them.

/** Maximum bytes of a whole path and of one name: Linux refuses more (PATH_MAX with room for the directory, NAME_MAX). */
export const maxPathBytes = 1_024;
const maxNameBytes = 255;

/** True for a relative path that stays below the directory that it is joined to. */
export function isFilePath(path: string): boolean {
  // A lone surrogate has no UTF-8 encoding, so the name would change.
  if (path.includes('\0') || !path.isWellFormed() || /(^|\/)\.{0,2}(\/|$)/.test(path)) return false;
  // One pass: a request may have 8,000 paths of 190 names.
  let bytes = 0;
  let nameBytes = 0;
  for (let at = 0; at < path.length; at += 1) {
    const unit = path.charCodeAt(at);
    // Of a pair of surrogates, four bytes in all, each is half.
    const size = unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
    bytes += size;
    nameBytes = unit === slash ? 0 : nameBytes + size;
    if (nameBytes > maxNameBytes) return false;
  }
  return bytes <= maxPathBytes;
}

const slash = 0x2f;

/** A file of one list that cannot share a directory with a file of another list: both paths are equal, or one is a parent of the other. */
export interface Clash {
  index: number;
  other: string;
}

/**
 * Returns the first of `paths` that clashes with one of `others`. Sorts each directory directly before the paths below it, so the time grows with the
 * paths' characters, not with their levels.
 */
export function findClash(paths: readonly string[], others: readonly string[]): Clash | null {
  if (others.length === 0) return null;
  const all = inOrder([
    ...paths.map((path, index) => ({ path, index })),
    ...others.map((path) => ({ path, index: null })),
  ]);
  let first: Clash | null = null;
  const note = (index: number | null, other: string): void => {
    if (index !== null && (first === null || index < first.index)) first = { index, other };
  };
  /** The outermost path of each list that may equal or contain the current one. */
  let above: Placed | null = null;
  let aboveOthers: Placed | null = null;
  for (const each of all) {
    if (above !== null && !isAtOrBelow(each, above)) above = null;
    if (aboveOthers !== null && !isAtOrBelow(each, aboveOthers)) aboveOthers = null;
    if (each.index !== null && aboveOthers !== null) note(each.index, aboveOthers.path);
    if (each.index === null && above !== null) note(above.index, each.path);
    if (each.index === null) aboveOthers ??= each;
    else above ??= each;
  }
  return first;
}

/** Returns the first clash among `paths` themselves. */
export function findOwnClash(paths: readonly string[]): Clash | null {
  let above: Placed | null = null;
  for (const each of inOrder(paths.map((path, index) => ({ path, index })))) {
    if (above !== null && isAtOrBelow(each, above)) return { index: each.index ?? 0, other: above.path };
    above = each;
  }
  return null;
}

/** `key`: the path as a directory. It is a prefix of the keys of all paths below it, and sorts directly before them. */
interface Placed {
  path: string;
  key: string;
  index: number | null;
}

const inOrder = (paths: readonly Omit<Placed, 'key'>[]): Placed[] =>
  paths
    .map((each) => ({ ...each, key: `${each.path}/` }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key === b.key ? (a.index ?? -1) - (b.index ?? -1) : 1));

const isAtOrBelow = ({ key }: Placed, above: Placed): boolean => key.startsWith(above.key);

/**
 * True when git may treat a file of this path as part of a repository: a user who downloads it into a checkout would run its writer's programs.
 * Covers file systems that ignore case or zero-width characters.
 */
export const isGits = (path: string): boolean =>
  path.split(/[/\\]/).some((name) => /^\.?git~\d+$|^\.git$/.test(plainName(name)));

const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
