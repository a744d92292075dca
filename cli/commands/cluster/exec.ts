// `ropewalk cluster exec N -- COMMAND`: run a command of this machine as a client of a cluster. A bare `Client()` in it
// connects, over mutual TLS.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference, parseTimeout } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { runAsClient } from '../../exec/run-as-client.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfCluster } from '../../references.ts';
import { waitOptions } from '../../watch-cluster.ts';

interface ExecFlags extends ConnectionFlags {
  timeout?: number;
}

const help = `
The command runs here, with your environment and these set: DASK_SCHEDULER_ADDRESS, and Dask's configuration of TLS
(DASK_DISTRIBUTED__COMM__...), which names files that exist only while the command runs. Its exit code is ours.

  ropewalk cluster exec 12 -- python my_script.py --fast
  ropewalk cluster exec 12 -- python -c "from distributed import Client; print(Client())"`;

export function execCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('exec')
    .description('Run a command of this machine as a client of a cluster. Options of exec stand before the number.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .argument('<command...>', 'the command line, best after --')
    .passThroughOptions()
    .option(
      '--timeout <duration>',
      'how long to wait for the scheduler, e.g. 90s or 5m (10m unless given)',
      parseTimeout,
    )
    .addHelpText('after', help);
  return withConnection(command).action(async (reference: Reference, given: string[], flags: ExecFlags) => {
    // Commander keeps a `--` that comes after the number.
    const words = given[0] === '--' ? given.slice(1) : given;
    if (words.length === 0) throw new UsageError('the command is missing', 'For example -- python my_script.py.');
    const client = await connect(context, flags);
    const number = await numberOfCluster(client, reference);
    const credentials = await untilInterrupted(
      () => `Interrupted: nothing was run on cluster ${number}.`,
      async (signal) => {
        const { onProgress, ...options } = waitOptions(context, { signal, timeoutMs: flags.timeout });
        await client.clusters.waitForScheduler(number, {
          ...options,
          // Nothing is said when there is nothing to wait for: stderr is the command's.
          onProgress: (cluster) => {
            if (!cluster.dask?.schedulerAddress) onProgress?.(cluster);
          },
        });
        return client.clusters.credentials(number, { signal });
      },
    );
    context.output.endProgress();
    finish(await runAsClient(credentials, words, context));
  });
}
