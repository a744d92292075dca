// `ropewalk logs N`: prints the output of a cluster or of a job, as `coiled logs` does: of the scheduler, of workers, or of both.
import { Command } from 'commander';

import type { Client, Cluster } from '../../sdk/client.ts';
import { NotFoundError } from '../../sdk/client.ts';
import type { Reference } from '../arguments.ts';
import { parseReference } from '../arguments.ts';
import type { CliContext, Finish } from '../context.ts';
import { connect, withConnection } from '../context.ts';
import { exitCodes } from '../errors.ts';
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
  command.addOption(command.createOption('--account <name>').hideHelp());
  return withConnection(command).action(async (reference: Reference, flags: LogsFlags & { account?: string }) => {
    const describe = (): string => `Stopped reading: ${reference} continues. To read on: ropewalk logs ${reference}`;
    const { account, ...given } = flags;
    const wanted = account === undefined ? given : { workspace: account, ...given };
    await untilInterrupted(describe, (signal) => print(context, reference, wanted, signal));
    finish(exitCodes.ok);
  });
}

async function print(context: CliContext, reference: Reference, flags: LogsFlags, signal: AbortSignal): Promise<void> {
  const { apiUrl: _, tokenFile: _file, workspace: _workspace, scheduler, workers, ...how } = flags;
  const client = await connect(context, flags);
  const number = await numberOf(client, reference, signal);
  const cluster = await client.clusters.get(number, { signal }).catch(orNull);
  const isWanted = cluster === null ? () => true : selection(cluster.instances, scheduler === true, workers);
  const isJob = cluster === null || cluster.job !== null;
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

type Instance = Cluster['instances'][number];

/** Selects everything when neither is requested. Instances that have ended are only covered by `all`, as workers. */
export function selection(
  instances: readonly Instance[],
  scheduler: boolean,
  workers: string | undefined,
): (instance: string) => boolean {
  if (!scheduler && workers === undefined) return () => true;
  const heads = new Set(instances.filter(({ role }) => role === 'head').map(({ id }) => id));
  const others = instances.filter(({ role }) => role !== 'head');
  const wanted = workers?.split(',').map((each) => each.trim()) ?? [];
  const chosen = new Set(
    workers === 'any'
      ? others.slice(0, 1).map(({ id }) => id)
      : others.filter((each) => isNamed(each, wanted)).map(({ id }) => id),
  );
  return (id) => (heads.has(id) ? scheduler : workers === 'all' || chosen.has(id));
}

const isNamed = ({ id, state, address, process }: Instance, wanted: readonly string[]): boolean =>
  [id, state, address, process?.name].some((each) => typeof each === 'string' && wanted.includes(each));
