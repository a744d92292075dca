// `ropewalk batch run` against a stand-in for the API.
import { openStandIn, token } from '../sdk/open-stand-in.ts';
import type { StandIn } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import type { CallOptions } from './call-cli.ts';
import type { CliResult } from './run-cli.ts';

export const created = { number: 12, name: 'job-12', existing: false, warnings: [] };

export function envOf(api: StandIn): Record<string, string> {
  return { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token };
}

/** `ropewalk batch run WORDS`: its request, and its result. */
export async function submitJob(words: string[], options: CallOptions = {}): Promise<CliResult & { body: unknown }> {
  const api = await openStandIn(() => ({ status: 201, json: created }));
  const result = await callCli(['batch', 'run', ...words], { ...options, env: { ...envOf(api), ...options.env } });
  return { ...result, body: api.requests[0]?.body };
}
