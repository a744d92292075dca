// `ropewalk env logs NAME`: prints the build log of a named environment, from the instance that builds or built it.
import { Command } from 'commander';

import type { EnvironmentDetails } from '../../../sdk/client.ts';
import { parseLimit } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import { buildLines } from '../../environment-builds.ts';
import { clean } from '../../output.ts';
import { formatLogTime } from '../../times.ts';

type Build = EnvironmentDetails['builds'][number];

export function environmentLogsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('logs')
    .description(
      'Print the messages of the instance that builds a named environment, or has built it. Times are local.',
    )
    .argument('<name>', 'name of the environment')
    .option('--build <n>', 'which of the builds that `ropewalk env inspect` shows, counted from 1', parseLimit, 1);
  return withConnection(command).action(async (name: string, flags: ConnectionFlags & { build: number }) => {
    const { output } = context;
    const client = await connect(context, flags);
    const { builds } = await client.environments.get(name);
    const build = chosen(name, builds, flags.build);
    for (const line of buildLines([build])) output.err(line);
    const { cluster, instance } = build;
    for await (const { at, stream, text } of client.clusters.logs(cluster, { instance, agents: true })) {
      if (stream === 'agent') output.out(`${formatLogTime(at)} ${clean(text)}`);
    }
    finish(exitCodes.ok);
  });
}

function chosen(name: string, builds: readonly Build[], number: number): Build {
  const build = builds[number - 1];
  if (build !== undefined) return build;
  const shown = builds.length === 1 ? 'one build' : `${builds.length} builds`;
  if (builds.length > 0) throw new CommandError(`${name} has ${shown}, and none with the number ${number}`);
  throw new CommandError(
    `${name} has no build in the object store`,
    'Instances build it when they start. On machines without shared builds, ropewalk cluster logs CLUSTER --agents has their messages.',
  );
}
