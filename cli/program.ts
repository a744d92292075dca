// The tree of commands: what can be said. What it does is one file per command.
import { Command } from 'commander';

import { cancelCommand } from './commands/batch/cancel.ts';
import { listCommand } from './commands/batch/list.ts';
import { logsCommand } from './commands/batch/logs.ts';
import { runCommand } from './commands/batch/run.ts';
import { statusCommand } from './commands/batch/status.ts';
import { waitCommand } from './commands/batch/wait.ts';
import { adaptCommand } from './commands/cluster/adapt.ts';
import { createCommand } from './commands/cluster/create.ts';
import { dashboardCommand } from './commands/cluster/dashboard.ts';
import { execCommand } from './commands/cluster/exec.ts';
import { getCommand } from './commands/cluster/get.ts';
import { listClustersCommand } from './commands/cluster/list.ts';
import { clusterLogsCommand } from './commands/cluster/logs.ts';
import { scaleCommand } from './commands/cluster/scale.ts';
import { stopCommand } from './commands/cluster/stop.ts';
import { destroyCommand } from './commands/destroy.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { clusterEventsCommand, jobEventsCommand } from './commands/events.ts';
import { initCommand } from './commands/init.ts';
import { sweepCommand } from './commands/sweep.ts';
import type { CliContext, Finish } from './context.ts';
import { version } from './version.ts';

export interface Program {
  program: Command;
  /** Of the command that ran, once parseAsync has resolved. */
  exitCode: () => number;
}

type CreateCommand = (context: CliContext, finish: Finish) => Command;

const batchCommands: CreateCommand[] = [
  runCommand,
  statusCommand,
  listCommand,
  waitCommand,
  logsCommand,
  jobEventsCommand,
  cancelCommand,
];
const clusterCommands: CreateCommand[] = [
  createCommand,
  listClustersCommand,
  getCommand,
  scaleCommand,
  adaptCommand,
  execCommand,
  clusterLogsCommand,
  clusterEventsCommand,
  dashboardCommand,
  stopCommand,
];

export function createProgram(context: CliContext): Program {
  let code = 0;
  const finish = (result: number): void => {
    code = result;
  };
  const group = (name: string, description: string, commands: readonly CreateCommand[]): Command => {
    const parent = new Command(name).description(description).enablePositionalOptions();
    for (const create of commands) parent.addCommand(create(context, finish));
    return parent;
  };
  const batch = group('batch', 'Batch jobs: one command, run as many tasks, on as many instances.', batchCommands);
  const cluster = group(
    'cluster',
    'Dask clusters: a scheduler and workers that outlive your terminal.',
    clusterCommands,
  );
  const program = new Command('ropewalk')
    .description('Durable batch jobs and Dask clusters on your own machines.')
    .version(version)
    .enablePositionalOptions()
    .addCommand(batch)
    .addCommand(cluster)
    .addCommand(devCommand(finish))
    .addCommand(doctorCommand(context, finish))
    .addCommand(initCommand(context, finish))
    .addCommand(sweepCommand(context, finish))
    .addCommand(destroyCommand(context, finish));
  for (const command of [program, ...program.commands, ...batch.commands, ...cluster.commands])
    configure(command, context);
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
