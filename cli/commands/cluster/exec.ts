// `ropewalk cluster exec N -- COMMAND`: runs a local command as a client of a cluster. A bare `Client()` in it connects over
// mutual TLS.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference, parseTimeout } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { environmentVariables } from '../../exec/environment.ts';
import { runAsClient } from '../../exec/run-as-client.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfCluster } from '../../references.ts';
import { waitOptions } from '../../watch-cluster.ts';

interface ExecFlags extends ConnectionFlags {
  environment?: boolean;
  timeout?: number;
}

const help = `
The command runs on this machine. DASK_SCHEDULER_ADDRESS and Dask's TLS settings
(DASK_DISTRIBUTED__COMM__...) are added to your environment variables; the
certificate files they name exist only while the command runs. The command's
exit code is returned.

The cluster's environment is a virtual environment with the cluster's
requirements, built on this machine once and put first on the PATH. Without
either option it is used when COMMAND begins with python, python3 or python3.N
and that Python does not have the cluster's version of distributed.

  ropewalk cluster exec 12 -- python my_script.py --fast
  ropewalk cluster exec 12 -- python3 -c "from distributed import Client; print(Client())"
  ropewalk cluster exec --environment 12 -- bash run_all.sh`;

export function execCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('exec')
    .description('Run a local command as a client of a cluster. Write options of exec before the cluster.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .argument('<command...>', 'command line, preferably after --')
    .passThroughOptions()
    .option('--environment', "run the command with the cluster's Python environment")
    .option('--no-environment', 'run the command with your own Python')
    .option(
      '--timeout <duration>',
      'maximum time to wait for the scheduler, e.g. 90s or 5m (default: 10m)',
      parseTimeout,
    )
    .addHelpText('after', help);
  return withConnection(command).action(async (reference: Reference, given: string[], flags: ExecFlags) => {
    // Commander keeps a `--` after the number.
    const words = given[0] === '--' ? given.slice(1) : given;
    if (words.length === 0) throw new UsageError('the command is missing', 'For example: -- python my_script.py.');
    const client = await connect(context, flags);
    const number = await numberOfCluster(client, reference);
    const { credentials, variables } = await untilInterrupted(
      () => `Interrupted: nothing was run on cluster ${number}.`,
      async (signal) => {
        const { onProgress, ...options } = waitOptions(context, { signal, timeoutMs: flags.timeout });
        await client.clusters.waitForScheduler(number, {
          ...options,
          // Without a wait no progress is printed, because stderr belongs to the command.
          onProgress: (cluster) => {
            if (!cluster.dask?.schedulerAddress) onProgress?.(cluster);
          },
        });
        const issued = await client.clusters.credentials(number, { signal });
        const fetchPackageFile = ({ sha256 }: { sha256: string }) => client.packageFiles.read(sha256, { signal });
        const { environment } = issued;
        const request = { words, environment, fetchPackageFile, wants: flags.environment, signal };
        return { credentials: issued, variables: await environmentVariables(context, request) };
      },
    );
    context.output.endProgress();
    finish(await runAsClient(credentials, words, variables, context));
  });
}
