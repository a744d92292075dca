// `ropewalk cluster watch N`: a live panel of a cluster until it ends; lines without a terminal.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfCluster } from '../../references.ts';
import { detachedFromCluster, watchCluster } from '../../watch-cluster.ts';

export function watchCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('watch')
    .description(
      'Watch a cluster until it ends: overview, workers by state, newest events. Ctrl-C stops watching only.',
    )
    .argument('<cluster>', 'number, or name of an open cluster', parseReference);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, flags: ConnectionFlags & FormatFlag) => {
      const client = await connect(context, flags);
      const number = await numberOfCluster(client, reference);
      await untilInterrupted(
        () => detachedFromCluster(number),
        (signal) => {
          const wait = (options: Parameters<typeof client.clusters.waitForEnd>[1]) =>
            client.clusters.waitForEnd(number, options);
          return watchCluster(wait, context, flags, { signal, timeoutMs: Number.POSITIVE_INFINITY });
        },
      );
      finish(exitCodes.ok);
    },
  );
}
