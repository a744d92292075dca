// The order of rows of a table: --sort COLUMN, or several columns with commas.
import { InvalidArgumentError } from 'commander';

export type SortKeys<T> = Record<string, (row: T) => string | number>;

/** In lower case, each column with a "-" before it for the reverse. */
export function parseSortOf(text: string, columns: readonly string[]): string {
  const names = text
    .toLowerCase()
    .replace('tasks done', 'done')
    .split(',')
    .map((name) => name.trim());
  if (names.every((name) => columns.includes(name.replace(/^-/, '')))) return names.join(',');
  throw new InvalidArgumentError(
    `Give one of ${columns.join(', ')}, or several with commas, with a "-" before one for the reverse.`,
  );
}

/** Rows that are equal keep their order. */
export function sortBy<T>(rows: readonly T[], sort: string, keys: SortKeys<T>): T[] {
  const orders = sort
    .split(',')
    .map((name) => ({ keyOf: keys[name.replace(/^-/, '')], sign: name.startsWith('-') ? -1 : 1 }));
  return rows.toSorted((a, b) => {
    for (const { keyOf, sign } of orders) {
      const [left, right] = [keyOf?.(a) ?? 0, keyOf?.(b) ?? 0];
      if (left !== right) return left < right ? -sign : sign;
    }
    return 0;
  });
}
