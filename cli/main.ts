// `ropewalk`: runs one command line. The only file of cli/ that reads the environment.
import { homedir } from 'node:os';
import { join } from 'node:path';

import { runCommandLine } from './command-line.ts';
import { exitCodes } from './errors.ts';
import { createOutput } from './output.ts';

/** Runs one command line (without the program's name) and resolves with the exit code. */
export async function main(words: string[] = process.argv.slice(2)): Promise<number> {
  // `ropewalk dev` then shuts its stack down (dev/endings.ts).
  if (words[0] !== 'dev') for (const stream of [process.stdout, process.stderr]) exitWhenReaderCloses(stream);
  const { env } = process;
  const output = createOutput(process.stdout, process.stderr, env);
  const home = env['ROPEWALK_HOME'] || join(homedir(), '.ropewalk');
  return runCommandLine(words, { env, home, cwd: process.cwd(), output });
}

/** `ropewalk batch logs 12 | head` is not an error. */
function exitWhenReaderCloses(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    throw error;
  });
}

if (import.meta.main) process.exitCode = await main();
