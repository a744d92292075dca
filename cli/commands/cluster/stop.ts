// `ropewalk cluster stop N`: stops a cluster.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference, parseTimeout } from '../../arguments.ts';
import { formatCluster } from '../../clusters.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfCluster } from '../../references.ts';
import { waitOptions } from '../../watch-cluster.ts';

interface StopFlags extends ConnectionFlags, FormatFlag {
  wait?: boolean;
  timeout?: number;
}

export function stopCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('stop')
    .description('Stop a cluster: its scheduler and workers end, and its instances are released.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .option('--wait', 'wait until all its instances have ended')
    .option('--timeout <duration>', 'maximum time to wait, e.g. 90s or 5m (default: 10m)', parseTimeout);
  return withFormat(withConnection(command)).action(async (reference: Reference, flags: StopFlags) => {
    const client = await connect(context, flags);
    const number = await numberOfCluster(client, reference);
    const { output } = context;
    await untilInterrupted(
      () => `Detached: cluster ${number} is stopping. To see it: ropewalk cluster get ${number}`,
      async (signal) => {
        await client.clusters.stop(number, { signal });
        const isJson = flags.format === 'json';
        if (flags.wait !== true) {
          return isJson ? output.json({ number }) : output.out(`Cluster ${number}: stopping`);
        }
        const options = waitOptions(context, { signal, timeoutMs: flags.timeout });
        const cluster = await client.clusters.waitForEnd(number, options);
        return isJson ? output.json(cluster) : output.out(formatCluster(cluster));
      },
    );
    finish(exitCodes.ok);
  });
}
