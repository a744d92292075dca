// `ropewalk batch events JOB` and `ropewalk cluster events CLUSTER`: prints events.
import { Command, Option } from 'commander';

import type { Client, ClusterEvent, ClusterEventOptions, JobEvent } from '../../sdk/client.ts';
import type { Reference } from '../arguments.ts';
import { parseAmount, parseLimit, parseReference, parseSince } from '../arguments.ts';
import { formatEvent } from '../clusters.ts';
import type { CliContext, ConnectionFlags, Finish } from '../context.ts';
import { connect, withConnection } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { untilInterrupted } from '../interrupt.ts';
import { toJson } from '../output.ts';
import { numberOfCluster, numberOfJob, referenceHelp } from '../references.ts';

interface EventsFlags extends ConnectionFlags {
  follow?: boolean;
  since?: Date;
  after?: number;
  limit?: number;
  format: 'text' | 'json';
}

interface Subject {
  noun: 'job' | 'cluster';
  group: 'batch' | 'cluster';
  numberOf: (client: Client, reference: Reference, signal: AbortSignal) => Promise<number>;
  read: (client: Client, number: number, options: ClusterEventOptions) => AsyncIterable<JobEvent | ClusterEvent>;
}

export const jobEventsCommand = (context: CliContext, finish: Finish): Command =>
  eventsCommand(context, finish, {
    noun: 'job',
    group: 'batch',
    numberOf: numberOfJob,
    read: (client, number, options) => client.jobs.events(number, options),
  });

export const clusterEventsCommand = (context: CliContext, finish: Finish): Command =>
  eventsCommand(context, finish, {
    noun: 'cluster',
    group: 'cluster',
    numberOf: numberOfCluster,
    read: (client, number, options) => client.clusters.events(number, options),
  });

function eventsCommand(context: CliContext, finish: Finish, { noun, group, numberOf, read }: Subject): Command {
  const command = new Command('events')
    .description(`Print the events of a ${noun}, oldest first. Times are local.`)
    .argument(`<${noun}>`, referenceHelp(noun), parseReference)
    .option('-f, --follow', `continue until the ${noun} has ended`)
    .option('--since <time>', 'only events since a time (2026-01-31T12:00) or an age (10m)', parseSince)
    .addOption(
      new Option('--format <format>', 'output format; json is one object per line')
        .choices(['text', 'json'])
        .default('text'),
    );
  if (noun === 'cluster') {
    command
      .option('--after <event>', 'only events with greater numbers: the next page', parseAmount)
      .option('--limit <count>', 'at most so many events', parseLimit);
  }
  return withConnection(command).action(async (reference: Reference, flags: EventsFlags) => {
    const client = await connect(context, flags);
    const { output } = context;
    const format = flags.format === 'json' ? toJson : formatEvent;
    const describe = (): string =>
      `Stopped reading: ${noun} ${reference} continues. To read on: ropewalk ${group} events ${reference}`;
    await untilInterrupted(describe, async (signal) => {
      const events = read(client, await numberOf(client, reference, signal), {
        signal,
        ...(flags.follow === true && { follow: true }),
        ...(flags.since && { since: flags.since }),
        ...(flags.after !== undefined && { after: flags.after }),
        ...(flags.limit !== undefined && { limit: flags.limit }),
        onUnreachable: (error) => output.progress(`Retrying: ${error.message}`),
      });
      for await (const event of events) await output.outLine(format(event));
    });
    finish(exitCodes.ok);
  });
}
