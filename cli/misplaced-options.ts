// Options of `batch run` after the first word of the command, which become words of the command.

/** One sentence; null when no word is exactly a long option. Short ones, such as -e, are common in commands. */
export function describeMisplaced(words: readonly string[], options: ReadonlySet<string>): string | null {
  const found = new Set(
    words
      .slice(1)
      .map((word) => word.replace(/=.*$/s, ''))
      .filter((word) => options.has(word)),
  );
  if (found.size === 0) return null;
  const belong = found.size === 1 ? 'belongs' : 'belong';
  return `${[...found].join(', ')} after the script ${belong} to the script; options of ropewalk come before it`;
}
