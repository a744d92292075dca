// `ropewalk cluster get N`: prints the details of a cluster.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import { formatDetails } from '../../clusters.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { numberOfCluster } from '../../references.ts';

export function getCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('get')
    .description('Show a cluster: scheduler, workers, failures and events. Times are local.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, flags: ConnectionFlags & FormatFlag) => {
      const client = await connect(context, flags);
      const number = await numberOfCluster(client, reference);
      const cluster = await client.clusters.get(number);
      if (flags.format === 'json') context.output.json(cluster);
      else context.output.out(formatDetails(cluster));
      finish(exitCodes.ok);
    },
  );
}
