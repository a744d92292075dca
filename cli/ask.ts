// Asks the user a question on stderr, because standard output is for the result.
import { createInterface } from 'node:readline/promises';

/** The typed line; null when standard input is closed. */
export async function askOnStderr(question: string): Promise<string | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  try {
    return await Promise.race([terminal.question(question), closed]);
  } finally {
    terminal.close();
  }
}
