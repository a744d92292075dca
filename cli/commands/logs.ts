// `ropewalk logs N`: prints the output of a cluster or of a job, as `coiled logs` does: of the scheduler, of workers, or of both.
import { Command } from 'commander';

import type { Client } from '../../sdk/client.ts';
import { NotFoundError } from '../../sdk/client.ts';
import type { Reference } from '../arguments.ts';
import { parseReference } from '../arguments.ts';
import type { KnownInstance } from '../cluster-instances.ts';
import { instancesOf, workerName } from '../cluster-instances.ts';
import type { CliContext, Finish } from '../context.ts';
import { connect, withConnection } from '../context.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { untilInterrupted } from '../interrupt.ts';
import { withLogOptions, type LogFlags } from '../log-lines.ts';
import { numberOfCluster, numberOfJob } from '../references.ts';
import { printJobLogs } from './batch/logs.ts';
import { printClusterLogs } from './cluster/logs.ts';

interface LogsFlags extends LogFlags {
  scheduler?: boolean;
  workers?: string;
}

export function logsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('logs')
    .description('Print the output of a cluster or job. Times are local.')
    .argument('<cluster>', 'number or name', parseReference)
    .option('--scheduler', 'output of the scheduler, or of the head instance of a job')
    .option('--workers <workers>', 'output of workers: all, any (one of them), or names, states and addresses (a,b)');
  withLogOptions(command, 'it');
  for (const name of ['--account <name>', '--profile <name>']) command.addOption(command.createOption(name).hideHelp());
  return withConnection(command).action(
    async (reference: Reference, flags: LogsFlags & { account?: string; profile?: string }) => {
      const describe = (): string => `Stopped reading: ${reference} continues. To read on: ropewalk logs ${reference}`;
      const { account, profile, ...given } = flags;
      if (profile !== undefined)
        context.output.err('note: --profile has no effect: the API reads the logs, with its own credentials');
      const wanted = account === undefined ? given : { workspace: account, ...given };
      await untilInterrupted(describe, (signal) => print(context, reference, wanted, signal));
      finish(exitCodes.ok);
    },
  );
}

async function print(context: CliContext, reference: Reference, flags: LogsFlags, signal: AbortSignal): Promise<void> {
  const { apiUrl: _, tokenFile: _file, workspace: _workspace, scheduler, workers, ...how } = flags;
  const client = await connect(context, flags);
  const number = await numberOf(client, reference, signal);
  const cluster = await client.clusters.get(number, { signal }).catch(orNull);
  const isJob = cluster === null || cluster.job !== null;
  const isWanted =
    cluster === null || (scheduler !== true && workers === undefined)
      ? () => true
      : selection(cluster.name, await instancesOf(client, cluster, signal), scheduler === true, workers);
  await (isJob ? printJobLogs : printClusterLogs)(context, client, number, { ...how, signal, isWanted });
}

/** An open cluster of that name, or else the newest job. */
async function numberOf(client: Client, reference: Reference, signal: AbortSignal): Promise<number> {
  const open = await numberOfCluster(client, reference, signal).catch(orNull);
  return open ?? numberOfJob(client, reference, signal);
}

function orNull(error: unknown): null {
  if (error instanceof NotFoundError) return null;
  throw error;
}

/** Instances that left before the cluster ended are known by `all`, by their ids and by their workers' names. */
export function selection(
  cluster: string,
  instances: readonly KnownInstance[],
  scheduler: boolean,
  workers: string | undefined,
): (instance: string) => boolean {
  const heads = new Set(instances.filter(({ isHead }) => isHead).map(({ id }) => id));
  const others = instances.filter(({ isHead }) => !isHead);
  const wanted = workers === undefined ? [] : workers.split(',').map((each) => each.trim());
  const isFree = workers === undefined || workers === 'all' || workers === 'any';
  if (!isFree) refuseUnknown(cluster, others, wanted);
  const chosen = workers === 'any' ? others.slice(0, 1) : others.filter((each) => isNamed(cluster, each, wanted));
  const ids = new Set(chosen.map(({ id }) => id));
  const isChosen = (id: string): boolean =>
    workers === 'all' || ids.has(id) || wanted.includes(id) || wanted.includes(workerName(cluster, id));
  return (id) => (heads.has(id) ? scheduler : isChosen(id));
}

const states: readonly string[] = ['starting', 'ready', 'stopping', 'error'];

const isNamed = (cluster: string, { id, state, address, name }: KnownInstance, wanted: readonly string[]): boolean =>
  [id, state, address, name, workerName(cluster, id)].some((each) => each !== null && wanted.includes(each));

/** Empty output would look like workers without output. */
function refuseUnknown(cluster: string, others: readonly KnownInstance[], wanted: readonly string[]): void {
  const mayHaveLeft = (word: string): boolean => word.startsWith(`${cluster}-worker-`) || /^i[-_]./.test(word);
  const isKnown = (word: string): boolean =>
    states.includes(word) || mayHaveLeft(word) || others.some((each) => isNamed(cluster, each, [word]));
  const unknown = wanted.filter((word) => !isKnown(word));
  if (unknown.length === 0) return;
  const names = others.slice(0, 10).map(({ id, name }) => name ?? id);
  throw new UsageError(
    `--workers: there is no ${unknown.join(', ')}; ` +
      (names.length > 0 ? `there are ${names.join(', ')}` : 'there is no worker yet'),
    `Give all, any, names of workers, or states: ${states.join(', ')}.`,
  );
}
