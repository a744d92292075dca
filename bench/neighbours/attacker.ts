// The process that sends the requests of one attack, apart from the one that measures: a large body takes its sender's event loop too.
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { z } from 'zod';

import { ask } from './ask.ts';
import { attacksOn } from './attacks.ts';

/** By message, because a token must not stand in the list of processes. */
export const orderOfAttack = z.object({ name: z.string(), job: z.number(), apiUrl: z.string(), token: z.string() });
export type OrderOfAttack = z.infer<typeof orderOfAttack>;

/** How many requests were answered, by status. */
export const answers = z.record(z.string(), z.number());

function attackUntilStopped({ name, job, ...api }: OrderOfAttack): void {
  const attack = attacksOn(job).find((one) => one.name === name);
  if (attack === undefined) throw new Error(`no attack ${name}`);
  const { body, atOnce, pauseMs = 1, ...asked } = attack;
  const sent = { ...asked, ...(body === undefined ? {} : { body: Buffer.from(body) }) };
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const statuses: Record<string, number> = {};
  const stop = new AbortController();
  const attacking = Array.from({ length: atOnce }, async () => {
    while (!stop.signal.aborted) {
      const status = await ask(agent, api, sent);
      statuses[status] = (statuses[status] ?? 0) + 1;
      // Refused clients wait as requested; an attacker waits as little as possible.
      await sleep(pauseMs);
    }
  });
  process.send?.('begun');
  process.once('message', () => {
    stop.abort();
    void Promise.all(attacking).then(() => {
      agent.destroy();
      process.send?.(statuses);
      process.disconnect();
    });
  });
}

if (import.meta.main) process.once('message', (order) => attackUntilStopped(orderOfAttack.parse(order)));
