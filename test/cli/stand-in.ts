// A stand-in for the API before which the command line runs, closed after each test of the file that imports this.
import { afterEach } from 'vitest';

import { startStandIn } from '../sdk/stand-in-api.ts';
import type { Asked, Reply, StandIn } from '../sdk/stand-in-api.ts';

const open: StandIn[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((api) => api.close()));
});

/** `env` is what the command line needs to find it. */
export async function standIn(
  reply: (asked: Asked, nth: number) => Reply,
): Promise<{ api: StandIn; env: Record<string, string> }> {
  const api = await startStandIn(reply);
  open.push(api);
  return { api, env: { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_default_abc-topsecret' } };
}
