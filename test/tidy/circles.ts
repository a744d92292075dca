// Circles of imports, found by repeatedly removing the files that import none of the rest.
import type { Source } from './sources.ts';

/** The files from which an import leads back to the file, type imports included. */
export function circlesOf(sources: readonly Pick<Source, 'path' | 'imports'>[]): string[] {
  const paths = new Set(sources.map(({ path }) => path));
  const edges = sources.flatMap(({ path, imports }) =>
    imports.filter(({ own, target }) => own && paths.has(target)).map(({ target }) => [path, target] as const),
  );
  const rest = new Set(paths);
  for (let before = -1; before !== rest.size;) {
    before = rest.size;
    const open = edges.filter(([from, to]) => rest.has(from) && rest.has(to));
    const importing = new Set(open.map(([from]) => from));
    const imported = new Set(open.map(([, to]) => to));
    for (const path of rest) if (!importing.has(path) || !imported.has(path)) rest.delete(path);
  }
  return [...rest].toSorted();
}
