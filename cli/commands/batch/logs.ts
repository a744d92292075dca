// `ropewalk batch logs N`: prints the output of tasks.
import { Command, Option } from 'commander';

import type { LogLine, LogOptions } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { collect, parseReference, parseSince } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { clean, toJson } from '../../output.ts';
import { numberOfJob } from '../../references.ts';
import { formatLogTime } from '../../times.ts';

interface LogsFlags extends ConnectionFlags {
  tasks?: string[];
  follow?: boolean;
  since?: Date;
  instances?: boolean;
  format: 'text' | 'json';
}

export function logsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('logs')
    .description("Print the output of a job's tasks. Times are local.")
    .argument('<job>', 'number, or name of an open job', parseReference)
    .option('--tasks <ids>', 'only these task ids, e.g. 0-3,7', collect)
    .option('-f, --follow', 'continue until the job has ended')
    .option('--instances', 'include messages of the instances')
    .option('--since <time>', 'only lines since a time (2026-01-31T12:00) or an age (10m)', parseSince)
    .addOption(
      new Option('--format <format>', 'output format; json is one object per line')
        .choices(['text', 'json'])
        .default('text'),
    );
  return withConnection(command).action(async (reference: Reference, flags: LogsFlags) => {
    const describe = (): string =>
      `Stopped reading: job ${reference} continues. To read on: ropewalk batch logs ${reference}`;
    await untilInterrupted(describe, (signal) => print(context, reference, flags, signal));
    finish(exitCodes.ok);
  });
}

async function print(context: CliContext, reference: Reference, flags: LogsFlags, signal: AbortSignal): Promise<void> {
  const client = await connect(context, flags);
  const number = await numberOfJob(client, reference, signal);
  const options: LogOptions = {
    signal,
    onUnreachable: (error) => context.output.progress(`Retrying: ${error.message}`),
    ...(flags.tasks && { tasks: flags.tasks.join(',') }),
    ...(flags.follow === true && { follow: true }),
    ...(flags.since && { since: flags.since }),
  };
  const format = flags.format === 'json' ? toJson : formatLine;
  for await (const line of client.jobs.logs(number, options)) {
    if (line.task !== null || flags.instances === true) await context.output.outLine(format(line));
  }
}

/** Always one line: `(Task 0)        2025-07-09 16:50:37.844000 Hello from 0` */
function formatLine({ at, task, attempt, instance, text }: LogLine): string {
  const again = attempt !== null && attempt > 1 ? ` attempt ${attempt}` : '';
  const who = task === null ? `(Instance ${instance})` : `(Task ${task}${again})`;
  return `${who.padEnd(15)} ${formatLogTime(at)} ${clean(text)}`;
}
