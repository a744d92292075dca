// `ropewalk cluster logs N`: prints the output of the scheduler and the workers.
import { Command } from 'commander';

import type { Client, LogLine } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { parseReference } from '../../arguments.ts';
import { instancesOf } from '../../cluster-instances.ts';
import type { CliContext, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { printLines, requestOf, withLogOptions, type LogFlags, type Reading } from '../../log-lines.ts';
import { clean } from '../../output.ts';
import { numberOfCluster } from '../../references.ts';
import { formatLogTime } from '../../times.ts';

export interface ClusterLogsFlags extends LogFlags {
  instance?: string;
  agents?: boolean;
}

export function clusterLogsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('logs')
    .description("Print the output of a cluster's scheduler and workers. Times are local.")
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .option('--instance <id>', 'only this instance')
    .option('--agents', "include messages of Ropewalk's agents");
  return withConnection(withLogOptions(command, 'the cluster')).action(
    async (reference: Reference, flags: ClusterLogsFlags) => {
      const describe = (): string =>
        `Stopped reading: cluster ${reference} continues. To read on: ropewalk cluster logs ${reference}`;
      await untilInterrupted(describe, (signal) => print(context, reference, flags, signal));
      finish(exitCodes.ok);
    },
  );
}

async function print(
  context: CliContext,
  reference: Reference,
  flags: ClusterLogsFlags,
  signal: AbortSignal,
): Promise<void> {
  const client = await connect(context, flags);
  const number = await numberOfCluster(client, reference, signal);
  await printClusterLogs(context, client, number, { ...flags, signal, isWanted: () => true });
}

export async function printClusterLogs(
  context: CliContext,
  client: Client,
  number: number,
  reading: Reading<ClusterLogsFlags>,
): Promise<void> {
  const nameOf = createNames(client, number, reading.signal);
  const lines = client.clusters.logs(number, {
    ...requestOf(context, reading),
    ...(reading.instance !== undefined && { instance: reading.instance }),
    ...(reading.agents === true && { agents: true }),
  });
  await printLines(context, lines, reading, async (line) => formatLine(line, await nameOf(line.instance)));
}

/** Always one line: `(blue-worker-q3x) 2025-07-09 16:50:37.844000 Start worker at: …` */
function formatLine({ at, stream, text }: LogLine, name: string): string {
  return `(${name}${stream === 'agent' ? ' agent' : ''})`.padEnd(17) + ` ${formatLogTime(at)} ${clean(text)}`;
}

const refreshAfterMs = 5_000;

/** Dask's names of instances that the cluster has, or had at its end; the ids of all others. */
function createNames(client: Client, number: number, signal: AbortSignal): (instance: string) => Promise<string> {
  const names = new Map<string, string>();
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  return async (instance) => {
    if (!names.has(instance) && Date.now() - refreshedAtMs > refreshAfterMs) {
      refreshedAtMs = Date.now();
      // Without names, lines are printed with instance ids.
      const found = await client.clusters
        .get(number, { signal })
        .then((cluster) => instancesOf(client, cluster, signal))
        .catch(() => []);
      signal.throwIfAborted();
      for (const { id, name } of found) if (name !== null) names.set(id, name);
    }
    return names.get(instance) ?? instance;
  };
}
