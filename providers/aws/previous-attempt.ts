// Finds what previous attempts at a launch without fleets have launched. A token alone does not answer that: EC2 keeps it for
// one pool, and a pool that failed at first may give everything when it is asked again. So a repeat searches before it asks,
// for as long as EC2 may take to show an instance; when all instances are found it need not wait.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { AwsClients } from './clients.ts';
import { describeFleet, describeTokens } from './describe.ts';
import type { FleetInstance } from './describe.ts';
import { isAnswer, messageOf } from './sdk-errors.ts';

const pollMs = 2_000;

/** `untilMs`, by performance.now(): by then EC2 shows everything that was launched before this attempt began. */
export const findPreviouslyLaunched = (
  clients: AwsClients,
  tokens: string[],
  count: number,
  untilMs: number,
): Promise<{ id: string; token: string }[]> => findAll(() => describeTokens(clients, tokens), count, untilMs);

/** The same for a fleet that EC2 repeats without its instances. */
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

/** As the answer to a launch, such an error would mean that nothing exists; here it leaves open what does. */
const unreadable = (cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'INTERNAL',
      message: `The instances of a previous attempt at this launch could not be read. AWS: ${messageOf(cause)}`,
    },
    { cause },
  );
