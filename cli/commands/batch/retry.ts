// `ropewalk batch retry N`: runs the failed tasks of a job again, as a new job.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfJob } from '../../references.ts';
import { detachedFromJob, watchJob } from '../../watch.ts';

interface RetryFlags extends ConnectionFlags, FormatFlag {
  failed?: boolean;
  memory?: string;
  cancelled?: boolean;
  again?: boolean;
  wait?: boolean;
}

export function retryCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('retry')
    .description(
      'Run the failed tasks of an ended job again, with their ids, as a new job; when the job ended with an error of its own, all that are not done.',
    )
    .argument('<job>', 'number or name', parseReference)
    .option('--failed', 'the tasks that failed (the default)')
    .option('--memory <size>', 'memory of each instance: a factor such as 2x, or a size')
    .option('--cancelled', 'also the tasks that were cancelled')
    .option('--again', 'also while another job that runs the same tasks is open')
    .option('--wait', 'wait until the new job has ended; exit code 1 unless every task is done');
  return withFormat(withConnection(command)).action(async (reference: Reference, flags: RetryFlags) => {
    const { output } = context;
    const client = await connect(context, flags);
    const of = await numberOfJob(client, reference);
    const { memory, cancelled, again } = flags;
    const created = await client.jobs.retry(of, {
      ...(memory === undefined ? {} : { memory }),
      ...(cancelled === true ? { cancelled } : {}),
      ...(again === true ? { again } : {}),
    });
    for (const warning of created.warnings) output.err(`warning: ${warning}`);
    const { number } = created;
    const text = `Job ${number} runs tasks of job ${of} again`;
    if (flags.wait === true) {
      output.err(text);
      const watch = (signal: AbortSignal) => watchJob(client, number, context, flags, signal);
      finish(await untilInterrupted(() => detachedFromJob(number), watch));
      return;
    }
    if (flags.format === 'json') output.json(created);
    else output.out(text);
    output.err(`Wait for it: ropewalk batch wait ${number}`);
    finish(exitCodes.ok);
  });
}
