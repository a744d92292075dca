// A terminal's screen for the output of a program: lines of text, after the escape sequences that the panel uses.

/** The lines, without trailing blanks. Throws for an unknown escape sequence. */
export function screenOf(output: string, columns = 80): string[] {
  const lines: string[] = [''];
  let [row, column, wraps] = [0, 0, true];
  const tokens = output.matchAll(/\u001b\[(\??)(\d*)([A-Za-z])|\u001b|[\r\n]|[^\u001b\r\n]/gu);
  for (const [token, question, digits, verb] of tokens) {
    if (token === '\r') column = 0;
    else if (token === '\n') {
      row += 1;
      // The terminal's driver returns the carriage.
      column = 0;
      lines[row] ??= '';
    } else if (verb === undefined) {
      if (token === '\u001b') throw new Error('an unknown escape');
      if (column >= columns && wraps) [row, column] = [row + 1, 0];
      column = Math.min(column, columns - 1);
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + token + line.slice(column + token.length);
      column += 1;
    } else if (verb === 'A') row = Math.max(0, row - Number(digits));
    else if (verb === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
    else if (verb === 'J') {
      lines[row] = (lines[row] ?? '').slice(0, column);
      lines.length = row + 1;
    } else if (question === '?' && digits === '7') wraps = verb === 'h';
    else if (verb !== 'm') throw new Error(`an unknown escape: ${JSON.stringify(token)}`);
  }
  return lines.map((line) => line.trimEnd());
}
