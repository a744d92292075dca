// The EC2 provider as the processes of a control plane make it: from a region's settings, and the agent that it launches.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { Provider } from '../provider.ts';
import { createAwsProvider } from './provider.ts';
import type { AwsSettings } from './settings.ts';

export interface AwsFileSettings extends Omit<AwsSettings, 'agent'> {
  node: AwsSettings['agent']['node'];
  apiCa: string | null;
}

/** `apiUrl`: where instances reach the API, which serves the agent by its hash. */
export function createAwsProviderFrom(
  { node, apiCa, ...settings }: AwsFileSettings,
  { apiUrl, agentBundle }: { apiUrl: string; agentBundle: string },
): Provider {
  const sha256 = createHash('sha256').update(readFileSync(agentBundle)).digest('hex');
  const agent = { url: `${apiUrl}/v1/agent/program/${sha256}`, sha256, node, apiCa };
  return createAwsProvider({ settings: { ...settings, agent } });
}

/** Lists and terminates; it cannot launch, so it needs no agent. */
export function createAwsTerminator({ node, apiCa, ...settings }: AwsFileSettings): Provider {
  return createAwsProvider({ settings: { ...settings, agent: { url: '', sha256: '', node, apiCa } } });
}
