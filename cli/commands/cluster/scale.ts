// `ropewalk cluster scale N WORKERS`: more workers, or fewer: those are drained first.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference, parseTimeout, parseWorkers } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfCluster } from '../../references.ts';
import { clusterGoesOn, untilScaled, watchCluster } from '../../watch-cluster.ts';

interface ScaleFlags extends ConnectionFlags, FormatFlag {
  wait?: boolean;
  timeout?: number;
}

export function scaleCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('scale')
    .description('Ask for a number of workers. Workers too many finish their tasks and hand over their data first.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .argument('<workers>', 'how many workers it should have', parseWorkers)
    .option('--wait', 'wait until they have started')
    .option('--timeout <duration>', 'how long to wait, e.g. 90s or 5m (10m unless given)', parseTimeout);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, workers: number, flags: ScaleFlags) => {
      const client = await connect(context, flags);
      const number = await numberOfCluster(client, reference);
      const { output } = context;
      await untilInterrupted(
        () => clusterGoesOn(number),
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
