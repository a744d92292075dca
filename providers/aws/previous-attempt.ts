// What an earlier try of a launch without fleets has got. A token alone does not tell: EC2 keeps it for one pool, and the pool
// that failed at first may give everything when it is asked again. So a repeat looks before it asks, for as long as EC2 may
// not show an instance yet; only what is all there needs no waiting.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { AwsClients } from './clients.ts';
import { describeTokens } from './describe.ts';
import { isAnswer, messageOf } from './sdk-errors.ts';

const pollMs = 2_000;

/** `untilMs`, by performance.now(): by then EC2 shows all that was launched before this try began. */
export async function launchedEarlier(
  clients: AwsClients,
  tokens: string[],
  count: number,
  untilMs: number,
): Promise<{ id: string; token: string }[]> {
  for (;;) {
    const leftMs = untilMs - performance.now();
    const found = await describeTokens(clients, tokens).catch((error: unknown) => {
      throw isAnswer(error) ? unseen(error) : error;
    });
    if (found.length >= count || leftMs <= 0) return found;
    await sleep(Math.min(pollMs, leftMs));
  }
}

/** Of a launch, such an answer would mean that there is nothing; here it leaves open what there is. */
const unseen = (cause: unknown): RopewalkError =>
  new RopewalkError(
    {
      code: 'INTERNAL',
      message: `What an earlier try of this launch has launched could not be read. AWS: ${messageOf(cause)}`,
    },
    { cause },
  );
