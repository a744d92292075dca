// One command line, from its words to its exit code.
import { CommanderError } from 'commander';

import type { CliContext } from './context.ts';
import { exitCodes, reportError } from './errors.ts';
import { createProgram } from './program.ts';

/** Runs one command line (without the program's name) and resolves with the exit code. Never rejects: errors are printed. */
export async function runCommandLine(words: readonly string[], context: CliContext): Promise<number> {
  const { program, exitCode } = createProgram(context);
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode();
  } catch (error) {
    // Commander has already printed its message, or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return reportError(error, context.output);
  }
}
