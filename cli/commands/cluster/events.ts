// `ropewalk cluster events N`: what happened to a cluster.
import { Command, Option } from 'commander';

import { parseNumber } from '../../arguments.ts';
import { formatEvent } from '../../clusters.ts';
import type { CliContext, ConnectionFlags, Finish } from '../../context.ts';
import { connect, withConnection } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { toJson } from '../../output.ts';

interface EventsFlags extends ConnectionFlags {
  follow?: boolean;
  format: 'text' | 'json';
}

export function eventsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('events')
    .description('Print what happened to a cluster, oldest first. Times are local.')
    .argument('<number>', 'the number of a cluster', parseNumber)
    .option('-f, --follow', 'go on until the cluster is over')
    .addOption(new Option('--format <format>', 'json: one object a line').choices(['text', 'json']).default('text'));
  return withConnection(command).action(async (number: number, flags: EventsFlags) => {
    const client = await connect(context, flags);
    const { output } = context;
    const format = flags.format === 'json' ? toJson : formatEvent;
    const comeBack = (): string =>
      `Stopped reading: cluster ${number} is not touched. Come back with: ropewalk cluster events ${number}`;
    await untilInterrupted(comeBack, async (signal) => {
      const events = client.clusters.events(number, {
        signal,
        ...(flags.follow === true && { follow: true }),
        onUnreachable: (error) => output.progress(`Still trying: ${error.message}`),
      });
      for await (const event of events) await output.outLine(format(event));
    });
    finish(exitCodes.ok);
  });
}
