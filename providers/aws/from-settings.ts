// The EC2 provider as the processes of a control plane make it: from a region's settings, and the agent that it launches.
import { agentDownload } from '../agent-download.ts';
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
  launching: { apiUrl: string; agentBundle: string },
): Provider {
  const agent = agentDownload(launching, { node, apiCa });
  return createAwsProvider({ settings: { ...settings, agent } });
}

/** Lists and terminates; it cannot launch, so it needs no agent. */
export function createAwsTerminator({ node, apiCa, ...settings }: AwsFileSettings): Provider {
  return createAwsProvider({ settings: { ...settings, agent: { url: '', sha256: '', node, apiCa } } });
}
