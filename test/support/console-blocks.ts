// Terminal sessions in Markdown: commands after `$ `, and their output. `...` on a line of its own stands for any lines, at the
// end of a line for any text.

export interface ShownCommand {
  command: string;
  output: string[];
}

/** The blocks of a language, in order, each as its lines. Throws when there is none. */
export function blocksOf(markdown: string, language: string): string[][] {
  const blocks = [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  if (blocks.length === 0) throw new Error(`there is no block of ${language}`);
  return blocks.map(([, text = '']) => text.trimEnd().split('\n'));
}

export function commandsOf(block: readonly string[]): ShownCommand[] {
  const commands: ShownCommand[] = [];
  for (const line of block) {
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), output: [] });
    else commands.at(-1)?.output.push(line);
  }
  return commands;
}

/**
 * Compares without order, because tasks and processes print at different times. `missing`: shown lines that were not printed.
 * `unexpected`: lines of stdout that are not shown, unless the block marks omitted lines.
 */
export function compareOutput(
  shown: readonly string[],
  printed: { stdout: string; stderr: string },
): { missing: string[]; unexpected: string[] } {
  const wanted = shown.map(normalise).filter((line) => line !== '');
  const lines = (text: string): string[] =>
    text
      .split('\n')
      .map(normalise)
      .filter((line) => line !== '');
  const stdout = lines(printed.stdout);
  const all = [...stdout, ...lines(printed.stderr)];
  const isLike = (line: string, pattern: string): boolean =>
    pattern.endsWith(' ...') ? line.startsWith(pattern.slice(0, -3)) : line === pattern;
  return {
    missing: wanted.filter((pattern) => pattern !== '...' && !all.some((line) => isLike(line, pattern))),
    unexpected: wanted.includes('...') ? [] : stdout.filter((line) => !wanted.some((pattern) => isLike(line, pattern))),
  };
}

/** The differences between runs: times, durations, ports; and the widths of tables, which follow from them. */
function normalise(line: string): string {
  return line
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?/g, '<time>')
    .replace(/\b\d+(\.\d+)? s\b/g, '<duration>')
    .replace(/\b127\.0\.0\.1:\d+/g, '<address>')
    .replace(/[━─]+/g, '─')
    .replace(/ +/g, ' ')
    .trim();
}
