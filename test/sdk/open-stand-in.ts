// Stand-ins for the API that are closed after each test of the file that imports this.
import { afterEach } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { startStandIn } from './stand-in-api.ts';
import type { ReceivedRequest, Reply, StandIn } from './stand-in-api.ts';

/** The token of these tests. */
export const token = 'rw_default_abc-topsecret';

const open: StandIn[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});

export async function openStandIn(reply: (request: ReceivedRequest, nth: number) => Reply): Promise<StandIn> {
  const api = await startStandIn(reply);
  open.push(api);
  return api;
}

export async function connect(
  reply: (request: ReceivedRequest, nth: number) => Reply,
): Promise<{ client: Client; api: StandIn }> {
  const api = await openStandIn(reply);
  return { client: createClient({ apiUrl: api.url, token }), api };
}
