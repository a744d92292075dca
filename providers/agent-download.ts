// The URL and hash by which cloud instances download their agent from the API.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { AgentDownload } from './agent-setup.ts';

/** `apiUrl` is the API's address for instances; `agentBundle` is the path of the bundled agent. */
export function agentDownload(
  { apiUrl, agentBundle }: { apiUrl: string; agentBundle: string },
  { node, apiCa }: Pick<AgentDownload, 'node' | 'apiCa'>,
): AgentDownload {
  const sha256 = createHash('sha256').update(readFileSync(agentBundle)).digest('hex');
  return { url: `${apiUrl}/v1/agent/program/${sha256}`, sha256, node, apiCa };
}
