// `ropewalk cluster scale N WORKERS`: sets the number of workers. Surplus workers are drained first.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference, parseTimeout, parseWorkers } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfCluster } from '../../references.ts';
import { detachedFromCluster, untilScaled, watchCluster } from '../../watch-cluster.ts';

interface ScaleFlags extends ConnectionFlags, FormatFlag {
  wait?: boolean;
  timeout?: number;
}

export function scaleCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('scale')
    .description('Set the number of workers. Surplus workers finish their tasks and transfer their data first.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .argument('<workers>', 'number of workers', parseWorkers)
    .option('--wait', 'wait until every worker has started or failed')
    .option('--timeout <duration>', 'maximum time to wait, e.g. 90s or 5m (default: 10m)', parseTimeout);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, workers: number, flags: ScaleFlags) => {
      const client = await connect(context, flags);
      const number = await numberOfCluster(client, reference);
      const { output } = context;
      await untilInterrupted(
        () => detachedFromCluster(number),
        async (signal) => {
          await client.clusters.scale(number, workers, { signal });
          if (flags.wait === true) {
            const wait = untilScaled(client, number, workers);
            await watchCluster(wait, context, flags, { signal, timeoutMs: flags.timeout });
          } else if (flags.format === 'json') output.json({ number, workers });
          else output.out(`Cluster ${number}: scaling to ${workers} workers`);
        },
      );
      finish(exitCodes.ok);
    },
  );
}
