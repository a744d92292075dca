// Finds the instances that previous attempts at a launch without fleets created. A token alone does not find them: EC2 keeps it
// for one pool, and a pool that failed at first may succeed on a retry. So a retry searches before it launches, for as long as
// EC2 may take to show an instance, or until all instances are found.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { AwsClients } from './clients.ts';
import { describeFleet, describeTokens } from './describe.ts';
import type { FleetInstance } from './describe.ts';
import { isAnswer, messageOf } from './sdk-errors.ts';

const pollMs = 2_000;

/** By `untilMs`, a `performance.now()` time, EC2 shows everything that was launched before this attempt began. */
export const findPreviouslyLaunched = (
  clients: AwsClients,
  tokens: string[],
  count: number,
  untilMs: number,
): Promise<{ id: string; token: string }[]> => findAll(() => describeTokens(clients, tokens), count, untilMs);

/** The same for a repeated fleet whose answer lists no instances. */
export const findOfFleet = (
  clients: AwsClients,
  fleetId: string,
  count: number,
  untilMs: number,
): Promise<FleetInstance[]> => findAll(() => describeFleet(clients, fleetId), count, untilMs);

async function findAll<T>(describe: () => Promise<T[]>, count: number, untilMs: number): Promise<T[]> {
  for (;;) {
    const leftMs = untilMs - performance.now();
    const found = await describe().catch((error: unknown) => {
      throw isAnswer(error) ? unreadable(error) : error;
    });
    if (found.length >= count || leftMs <= 0) return found;
    await sleep(Math.min(pollMs, leftMs));
  }
}

/** As an answer to a launch, such an error would mean that nothing exists; here the number of instances is unknown. */
const unreadable = (cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'INTERNAL',
      message: `The instances of a previous attempt at this launch could not be read. AWS: ${messageOf(cause)}`,
    },
    { cause },
  );
