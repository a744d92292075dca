// `ropewalk cluster get N`: all there is to know about one cluster.
import { Command } from 'commander';

import { parseNumber } from '../../arguments.ts';
import { formatDetails } from '../../clusters.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function getCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('get')
    .description('Show a cluster: its scheduler, its workers, what failed, what happened. Times are local.')
    .argument('<number>', 'the number of a cluster', parseNumber);
  return withFormat(withConnection(command)).action(async (number: number, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const cluster = await client.clusters.get(number);
    if (flags.format === 'json') context.output.json(cluster);
    else context.output.out(formatDetails(cluster));
    finish(exitCodes.ok);
  });
}
