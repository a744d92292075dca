// `ropewalk cluster adapt N`: turns adaptive scaling on or off.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parseReference, parseWorkers } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { numberOfCluster } from '../../references.ts';

interface AdaptFlags extends ConnectionFlags, FormatFlag {
  minimum?: number;
  maximum?: number;
  targetDuration?: string;
  waitCount?: number;
  interval?: string;
  off?: boolean;
}

export function adaptCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('adapt')
    .description('Scale a cluster with its load, between two numbers of workers.')
    .argument('<cluster>', 'number, or name of an open cluster', parseReference)
    .option('--minimum <n>', 'minimum number of workers (default: 0)', parseWorkers)
    .option('--maximum <n>', 'maximum number of workers', parseWorkers)
    .option('--target-duration <duration>', 'as many workers as finish the known work in this time (default: 3m)')
    .option('--wait-count <n>', 'intervals without need for a worker before it is closed (default: 24)', parseWorkers)
    .option('--interval <duration>', 'how often the scheduler judges its load (default: 5s)')
    .option('--off', 'turn adaptive scaling off and keep the current number of workers');
  return withFormat(withConnection(command)).action(async (reference: Reference, flags: AdaptFlags) => {
    const range = rangeOf(flags);
    const client = await connect(context, flags);
    const number = await numberOfCluster(client, reference);
    await client.clusters.adapt(number, range);
    const what = range === null ? 'adaptive scaling is off' : `between ${range.minimum} and ${range.maximum} workers`;
    if (flags.format === 'json') context.output.json({ number, adaptive: range });
    else context.output.out(`Cluster ${number}: ${what}`);
    finish(exitCodes.ok);
  });
}

function rangeOf({ minimum, maximum, targetDuration, waitCount, interval, off }: AdaptFlags) {
  if (off === true) {
    if (minimum === undefined && maximum === undefined) return null;
    throw new UsageError('--off cannot be combined with --minimum or --maximum');
  }
  if (maximum === undefined) throw new UsageError('--maximum is missing', 'For example --minimum 1 --maximum 10.');
  const range = {
    minimum: minimum ?? 0,
    maximum,
    ...(targetDuration !== undefined && { targetDuration }),
    ...(waitCount !== undefined && { waitCount }),
    ...(interval !== undefined && { interval }),
  };
  if (range.minimum <= maximum) return range;
  throw new UsageError(`--minimum ${range.minimum} is more than --maximum ${maximum}`);
}
