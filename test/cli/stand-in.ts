// A stand-in for the API before which the command line runs, closed after each test of the file that imports this.
import { openStandIn, token } from '../sdk/open-stand-in.ts';
import type { ReceivedRequest, Reply, StandIn } from '../sdk/stand-in-api.ts';

/** `env` is what the command line needs to find it. */
export async function standIn(
  reply: (request: ReceivedRequest, nth: number) => Reply,
): Promise<{ api: StandIn; env: Record<string, string> }> {
  const api = await openStandIn(reply);
  return { api, env: { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token } };
}
