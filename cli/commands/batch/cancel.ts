// `ropewalk batch cancel N`: cancels a job.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { numberOfJob } from '../../references.ts';

export function cancelCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('cancel')
    .description('Cancel a job: its tasks end, and its instances are released. With --task, only some of its tasks.')
    .argument('<job>', 'number or name', parseReference)
    .option('--task <ids>', 'only these tasks, e.g. 3,7-9; the job goes on with the others');
  return withConnection(command).action(async (reference: Reference, flags: ConnectionFlags & { task?: string }) => {
    const client = await connect(context, flags);
    const number = await numberOfJob(client, reference);
    if (flags.task !== undefined) {
      await client.jobs.cancelTasks(number, flags.task);
      // The job's workflow cancels them; running tasks end when their agents next report.
      context.output.out(`Job ${number}: cancelling tasks ${flags.task}`);
      context.output.err(`Those that have ended so: ropewalk batch status ${number} --state cancelled`);
      finish(exitCodes.ok);
      return;
    }
    const job = await client.jobs.cancel(number);
    if (typeof job.endedAt === 'string') {
      context.output.out(`Job ${number} has ended: ${job.status}`);
    } else {
      context.output.out(`Job ${number}: cancelling`);
      context.output.err(`Wait for it:  ropewalk batch wait ${number}`);
    }
    finish(exitCodes.ok);
  });
}
