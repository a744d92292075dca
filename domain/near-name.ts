// Finds the known name that a misspelled one probably meant.

/** Returns the nearest name within two edits (one for names of up to four letters), or null. Ignores case. */
export function nearName(written: string, known: Iterable<string>): string | null {
  const text = written.toLowerCase().slice(0, maxLength);
  let best: string | null = null;
  let bestEdits = text.length <= 4 ? 2 : 3;
  for (const name of known) {
    const edits = countEdits(text, name);
    if (edits >= bestEdits) continue;
    best = name;
    bestEdits = edits;
  }
  return best;
}

/** No option is that long, and the comparison takes time proportional to the product of both lengths. */
const maxLength = 40;

/** Insertions, deletions, replacements, and swaps of neighbours: the optimal string alignment distance. */
function countEdits(a: string, b: string): number {
  let [older, old]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(old, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(older, column - 2) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, at(old, column) + 1, at(next, column - 1) + 1));
    }
    [older, old] = [old, next];
  }
  return at(old, b.length);
}

const at = (row: readonly number[] | undefined, column: number): number => row?.[column] ?? Number.POSITIVE_INFINITY;
