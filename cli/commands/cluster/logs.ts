// `ropewalk cluster logs N`: what the scheduler and the workers wrote.
import { Command, Option } from 'commander';

import type { Client, LogLine } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { parseReference, parseSince } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { clean, toJson } from '../../output.ts';
import { numberOfCluster } from '../../references.ts';
import { formatLogTime } from '../../times.ts';

interface LogsFlags extends ConnectionFlags {
  instance?: string;
  follow?: boolean;
  since?: Date;
  agents?: boolean;
  format: 'text' | 'json';
}

export function clusterLogsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('logs')
    .description('Print what the scheduler and the workers of a cluster wrote. Times are local.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .option('--instance <id>', 'only this instance')
    .option('-f, --follow', 'go on until the cluster is over')
    .option('--agents', "also what Ropewalk's agents on the instances say")
    .option('--since <time>', 'only lines since a time, or since 10m ago', parseSince)
    .addOption(new Option('--format <format>', 'json: one object a line').choices(['text', 'json']).default('text'));
  return withConnection(command).action(async (reference: Reference, flags: LogsFlags) => {
    const comeBack = (): string =>
      `Stopped reading: cluster ${reference} is not touched. Come back with: ropewalk cluster logs ${reference}`;
    await untilInterrupted(comeBack, (signal) => print(context, reference, flags, signal));
    finish(exitCodes.ok);
  });
}

async function print(context: CliContext, reference: Reference, flags: LogsFlags, signal: AbortSignal): Promise<void> {
  const client = await connect(context, flags);
  const number = await numberOfCluster(client, reference, signal);
  const { output } = context;
  const nameOf = createNames(client, number, signal);
  const lines = client.clusters.logs(number, {
    signal,
    onUnreachable: (error) => output.progress(`Still trying: ${error.message}`),
    ...(flags.instance !== undefined && { instance: flags.instance }),
    ...(flags.follow === true && { follow: true }),
    ...(flags.since && { since: flags.since }),
  });
  for await (const line of lines) {
    if (line.stream === 'agent' && flags.agents !== true) continue;
    await output.outLine(flags.format === 'json' ? toJson(line) : formatLine(line, await nameOf(line.instance)));
  }
}

/** A line stays one line, whatever was written: `(blue-worker-q3x) 2025-07-09 16:50:37.844000 Start worker at: …` */
function formatLine({ at, stream, text }: LogLine, name: string): string {
  return `(${name}${stream === 'agent' ? ' agent' : ''})`.padEnd(17) + ` ${formatLogTime(at)} ${clean(text)}`;
}

const lookAgainMs = 5_000;

/** Names as Dask has them, for instances that still exist; the ids of all others. */
function createNames(client: Client, number: number, signal: AbortSignal): (instance: string) => Promise<string> {
  const names = new Map<string, string>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async (instance) => {
    if (!names.has(instance) && Date.now() - lookedAtMs > lookAgainMs) {
      lookedAtMs = Date.now();
      // A log is worth reading without names as well.
      const cluster = await client.clusters.get(number, { signal }).catch(() => null);
      signal.throwIfAborted();
      for (const { id, process } of cluster?.instances ?? []) if (process !== null) names.set(id, process.name);
    }
    return names.get(instance) ?? instance;
  };
}
