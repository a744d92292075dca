// `ropewalk batch cancel N`: ask a job to end.
import { Command } from 'commander';

import { parseNumber } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function cancelCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('cancel')
    .description('Cancel a job: its tasks are ended, its instances released.')
    .argument('<number>', 'the number of a job', parseNumber);
  return withConnection(command).action(async (number: number, flags: ConnectionFlags) => {
    const client = await connect(context, flags);
    await client.jobs.cancel(number);
    context.output.out(`Job ${number}: cancelling`);
    context.output.err(`See it end:  ropewalk batch wait ${number}`);
    finish(exitCodes.ok);
  });
}
