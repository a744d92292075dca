// Extracts the reason of a program's end from its output.

const maxLength = 500;

/**
 * The message of the last error that Node printed ("Error: Cannot find module ..."), without its stack; otherwise the last
 * lines, at most 500 characters. Empty for no output.
 */
export function errorIn(output: string): string {
  const text = output.trim();
  const error = text.split('\n').findLast((line) => /^(Uncaught )?\w*(Error|Exception)\b.*:/.test(line));
  if (error !== undefined) return error.slice(0, maxLength);
  const end = text.slice(-maxLength);
  // Starts at a whole line where there is one.
  return end.length === text.length ? text : end.slice(end.indexOf('\n') + 1);
}
