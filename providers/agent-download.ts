// Where instances of a cloud download their agent: from the API, which serves it by its hash.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { AgentDownload } from './agent-setup.ts';

/** `apiUrl`: where instances reach the API. `agentBundle`: path of the agent's bundled file. */
export function agentDownload(
  { apiUrl, agentBundle }: { apiUrl: string; agentBundle: string },
  { node, apiCa }: Pick<AgentDownload, 'node' | 'apiCa'>,
): AgentDownload {
  const sha256 = createHash('sha256').update(readFileSync(agentBundle)).digest('hex');
  return { url: `${apiUrl}/v1/agent/program/${sha256}`, sha256, node, apiCa };
}
