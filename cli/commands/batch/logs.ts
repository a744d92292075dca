// `ropewalk batch logs N`: what the tasks printed.
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
    .description('Print what the tasks of a job printed. Times are local.')
    .argument('<job>', 'number, or name of an open job', parseReference)
    .option('--tasks <ids>', 'only these task ids, e.g. 0-3,7', collect)
    .option('-f, --follow', 'go on until the job is over')
    .option('--instances', 'also what the instances themselves say')
    .option('--since <time>', 'only lines since a time, or since 10m ago', parseSince)
    .addOption(new Option('--format <format>', 'json: one object a line').choices(['text', 'json']).default('text'));
  return withConnection(command).action(async (reference: Reference, flags: LogsFlags) => {
    const comeBack = (): string =>
      `Stopped reading: job ${reference} is not touched. Come back with: ropewalk batch logs ${reference}`;
    await untilInterrupted(comeBack, (signal) => print(context, reference, flags, signal));
    finish(exitCodes.ok);
  });
}

async function print(context: CliContext, reference: Reference, flags: LogsFlags, signal: AbortSignal): Promise<void> {
  const client = await connect(context, flags);
  const number = await numberOfJob(client, reference, signal);
  const options: LogOptions = {
    signal,
    onUnreachable: (error) => context.output.progress(`Still trying: ${error.message}`),
    ...(flags.tasks && { tasks: flags.tasks.join(',') }),
    ...(flags.follow === true && { follow: true }),
    ...(flags.since && { since: flags.since }),
  };
  const format = flags.format === 'json' ? toJson : formatLine;
  for await (const line of client.jobs.logs(number, options)) {
    if (line.task !== null || flags.instances === true) await context.output.outLine(format(line));
  }
}

/** A line stays one line, whatever a task printed: `(Task 0)        2025-07-09 16:50:37.844000 Hello from 0` */
function formatLine({ at, task, attempt, instance, text }: LogLine): string {
  const again = attempt !== null && attempt > 1 ? ` attempt ${attempt}` : '';
  const who = task === null ? `(Instance ${instance})` : `(Task ${task}${again})`;
  return `${who.padEnd(15)} ${formatLogTime(at)} ${clean(text)}`;
}
