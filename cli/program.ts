// The tree of commands: what can be said. What it does is one file per command.
import { Command } from 'commander';

import { cancelCommand } from './commands/batch/cancel.ts';
import { listCommand } from './commands/batch/list.ts';
import { logsCommand } from './commands/batch/logs.ts';
import { runCommand } from './commands/batch/run.ts';
import { statusCommand } from './commands/batch/status.ts';
import { waitCommand } from './commands/batch/wait.ts';
import { devCommand } from './commands/dev.ts';
import type { CliContext } from './context.ts';
import { version } from './version.ts';

export interface Program {
  program: Command;
  /** Of the command that ran, once parseAsync has resolved. */
  exitCode: () => number;
}

export function createProgram(context: CliContext): Program {
  let code = 0;
  const finish = (result: number): void => {
    code = result;
  };
  const batch = new Command('batch')
    .description('Batch jobs: one command, run as many tasks, on as many instances.')
    .enablePositionalOptions();
  for (const create of [runCommand, statusCommand, listCommand, waitCommand, logsCommand, cancelCommand]) {
    batch.addCommand(create(context, finish));
  }
  const program = new Command('ropewalk')
    .description('Durable batch jobs and Dask clusters on your own machines.')
    .version(version)
    .enablePositionalOptions()
    .addCommand(batch)
    .addCommand(devCommand(finish));
  for (const command of [program, ...program.commands, ...batch.commands]) configure(command, context);
  return { program, exitCode: () => code };
}

/** Commander ends the process itself unless told not to, and settings do not reach commands added ready-made. */
function configure(command: Command, { output }: CliContext): void {
  command
    .exitOverride()
    .showHelpAfterError('(--help tells more)')
    .configureOutput({
      writeOut: (text) => output.out(text.trimEnd()),
      writeErr: (text) => output.err(text.trimEnd()),
    });
}
