// `ropewalk cluster dashboard N` and `cluster jupyter N`: print a link. It signs its opener in, and is valid for minutes.
import { Command } from 'commander';

import type { Client, DashboardLink } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { numberOfCluster } from '../../references.ts';
import { formatTime } from '../../times.ts';

export const dashboardCommand = (context: CliContext, finish: Finish): Command =>
  linkCommand(context, finish, {
    name: 'dashboard',
    description: 'Print a link to the Dask dashboard of a cluster. It signs its opener in: do not share it.',
    read: (client, number) => client.clusters.dashboardLink(number),
  });

export const jupyterCommand = (context: CliContext, finish: Finish): Command =>
  linkCommand(context, finish, {
    name: 'jupyter',
    description:
      'Print a link to the Jupyter server of a cluster that has one. It allows running code there: do not share it.',
    read: (client, number) => client.clusters.jupyterLink(number),
  });

interface Link {
  name: string;
  description: string;
  read: (client: Client, number: number) => Promise<DashboardLink>;
}

function linkCommand(context: CliContext, finish: Finish, { name, description, read }: Link): Command {
  const command = new Command(name)
    .description(description)
    .argument('<cluster>', 'number, or name of an open cluster', parseReference);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, flags: ConnectionFlags & FormatFlag) => {
      const client = await connect(context, flags);
      const number = await numberOfCluster(client, reference);
      const link = await read(client, number);
      if (flags.format === 'json') context.output.json(link);
      else {
        context.output.out(link.url);
        context.output.err(`Open it before ${formatTime(link.expiresAt)}; run the command again for a new link.`);
      }
      finish(exitCodes.ok);
    },
  );
}
