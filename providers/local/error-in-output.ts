// What a program's output says of its end.

const maxLength = 500;

/**
 * The message of the error that Node printed last ("Error: Cannot find module ..."), without its stack; the last lines, of at most
 * 500 characters, when it printed none. Empty for no output.
 */
export function errorIn(output: string): string {
  const text = output.trim();
  const error = text.split('\n').findLast((line) => /^(Uncaught )?\w*(Error|Exception)\b.*:/.test(line));
  if (error !== undefined) return error.slice(0, maxLength);
  const end = text.slice(-maxLength);
  // Not from within a line, where there is a whole one.
  return end.length === text.length ? text : end.slice(end.indexOf('\n') + 1);
}
