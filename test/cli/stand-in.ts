// A stand-in for the API for the command line, closed after each test of the file that imports this.
import { openStandIn, token } from '../sdk/open-stand-in.ts';
import type { ReceivedRequest, Reply, StandIn } from '../sdk/stand-in-api.ts';

/** `env`: the variables with which the command line finds it. */
export async function standIn(
  reply: (request: ReceivedRequest, nth: number) => Reply,
): Promise<{ api: StandIn; env: Record<string, string> }> {
  const api = await openStandIn(reply);
  return { api, env: { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token } };
}
