// The paths of downloaded files below a directory. A path that several tasks wrote with different content is kept once for each
// of them: `out.csv` of task 3 becomes `task-3/out.csv`.
import type { ListedFile } from '../../sdk/files.ts';

export interface PlacedFile {
  /** Relative, with `/`. */
  path: string;
  sha256: string;
  bytes: number;
  executable: boolean;
}

/** Uses the later of two files of one task; equal content of several tasks becomes one file. */
export function placeFiles(listed: readonly ListedFile[]): PlacedFile[] {
  const byPath = new Map<string, Map<string, ListedFile>>();
  for (const file of listed.toSorted((a, b) => Date.parse(a.storedAt) - Date.parse(b.storedAt))) {
    const writer = `${file.job}/${file.task}`;
    const writers = byPath.get(file.path) ?? new Map<string, ListedFile>();
    writers.set(writer, file);
    byPath.set(file.path, writers);
  }
  const placed = [...byPath].flatMap(([path, writers]): PlacedFile[] => {
    const files = [...writers.values()];
    const isOne = new Set(files.map(({ sha256, executable }) => `${sha256} ${executable}`)).size === 1;
    if (isOne || files.every(({ task }) => task === null)) return files.slice(-1).map((file) => place(file, path));
    return files.map((file) => place(file, file.task === null ? path : `task-${file.task}/${path}`));
  });
  // A file of one task may have the name of another's directory, and is then renamed.
  const directories = new Set(placed.flatMap(({ path }) => parentsOf(path)));
  return placed.map((file) => (directories.has(file.path) ? { ...file, path: `${file.path}.file` } : file));
}

const place = ({ sha256, bytes, executable }: ListedFile, path: string): PlacedFile => ({
  ...{ path, sha256, bytes, executable },
});

const parentsOf = (path: string): string[] => {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
};
