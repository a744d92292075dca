// `ropewalk cluster dashboard N`: prints a link to the Dask dashboard. It signs its opener in, and is valid for minutes.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { numberOfCluster } from '../../references.ts';
import { formatTime } from '../../times.ts';

export function dashboardCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('dashboard')
    .description('Print a link to the Dask dashboard of a cluster. It signs its opener in: do not share it.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, flags: ConnectionFlags & FormatFlag) => {
      const client = await connect(context, flags);
      const number = await numberOfCluster(client, reference);
      const link = await client.clusters.dashboardLink(number);
      if (flags.format === 'json') context.output.json(link);
      else {
        context.output.out(link.url);
        context.output.err(`Open it before ${formatTime(link.expiresAt)}; run the command again for a new link.`);
      }
      finish(exitCodes.ok);
    },
  );
}
