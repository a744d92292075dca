// `ropewalk batch logs N`: prints the output of tasks.
import { Command } from 'commander';

import type { Client, LogLine } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { collect, parseReference } from '../../arguments.ts';
import type { CliContext, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { clean } from '../../output.ts';
import { printLines, requestOf, withLogOptions, type LogFlags, type Reading } from '../../log-lines.ts';
import { newestJob, numberOfJob } from '../../references.ts';
import { formatLogTime } from '../../times.ts';

export interface JobLogsFlags extends LogFlags {
  tasks?: string[];
  task?: string[];
  instances?: boolean;
}

export function logsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('logs')
    .description("Print the output of a job's tasks. Times are local.")
    .argument('[job]', 'number or name (default: the newest job)', parseReference)
    .option('--tasks <ids>', 'only these task ids, e.g. 0-3,7 (also --task)', collect)
    .option('--instances', 'include messages of the instances');
  command.addOption(command.createOption('--task <ids>').argParser(collect).hideHelp());
  return withConnection(withLogOptions(command, 'the job')).action(
    async (reference: Reference | undefined, flags: JobLogsFlags) => {
      const job = reference ?? '';
      const describe = (): string =>
        `Stopped reading: the job continues. To read on: ropewalk batch logs ${job}`.trimEnd();
      await untilInterrupted(describe, (signal) => print(context, reference, flags, signal));
      finish(exitCodes.ok);
    },
  );
}

async function print(
  context: CliContext,
  reference: Reference | undefined,
  flags: JobLogsFlags,
  signal: AbortSignal,
): Promise<void> {
  const client = await connect(context, flags);
  const number =
    reference === undefined
      ? await newestJob(client, 'with output', signal)
      : await numberOfJob(client, reference, signal);
  await printJobLogs(context, client, number, { ...flags, signal, isWanted: () => true });
}

export async function printJobLogs(
  context: CliContext,
  client: Client,
  number: number,
  reading: Reading<JobLogsFlags>,
): Promise<void> {
  const tasks = [...(reading.tasks ?? []), ...(reading.task ?? [])];
  const lines = client.jobs.logs(number, {
    ...requestOf(context, reading),
    ...(tasks.length > 0 && { tasks: tasks.join(',') }),
    ...(reading.instances === true && { instances: true }),
  });
  await printLines(context, lines, reading, formatLine);
}

/** Always one line: `(Task 0)        2025-07-09 16:50:37.844000 Hello from 0` */
function formatLine({ at, task, attempt, instance, text }: LogLine): string {
  const again = attempt !== null && attempt > 1 ? ` attempt ${attempt}` : '';
  const who = task === null ? `(Instance ${instance})` : `(Task ${task}${again})`;
  return `${who.padEnd(15)} ${formatLogTime(at)} ${clean(text)}`;
}
