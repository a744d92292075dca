// Creates the EC2 provider of the control plane's processes from a region's settings and the agent's download. A workspace with
// its own account has its own provider behind it.
import { agentDownload } from '../agent-download.ts';
import type { Provider } from '../provider.ts';
import { byWorkspace } from './accounts.ts';
import type { AssumedRole } from './assume-role.ts';
import { createAwsProvider } from './provider.ts';
import type { AwsSettings } from './settings.ts';

type Network = 'subnets' | 'workerSubnets' | 'securityGroups' | 'instanceProfile' | 'assignPublicIps';

/** A workspace's account: the role that it grants, and its network. */
export type WorkspaceAccount = AssumedRole & Pick<AwsSettings, Network>;

export interface AwsFileSettings extends Omit<AwsSettings, 'agent'> {
  node: AwsSettings['agent']['node'];
  apiCa: string | null;
  /** By workspace name. */
  workspaceAccounts: Readonly<Record<string, WorkspaceAccount>>;
}

/** `apiUrl` is the API's address for instances; the API serves the agent by its hash. */
export function createAwsProviderFrom(
  { node, apiCa, ...settings }: AwsFileSettings,
  launching: { apiUrl: string; agentBundle: string },
): Provider {
  return ofAllAccounts(settings, agentDownload(launching, { node, apiCa }), 'skip');
}

/** Lists and terminates only, so it needs no agent. */
export function createAwsTerminator({ node, apiCa, ...settings }: AwsFileSettings): Provider {
  return ofAllAccounts(settings, { url: '', sha256: '', node, apiCa }, 'fail');
}

function ofAllAccounts(
  { workspaceAccounts, ...settings }: Omit<AwsFileSettings, 'node' | 'apiCa'>,
  agent: AwsSettings['agent'],
  revoked: 'skip' | 'fail',
): Provider {
  const accounts = Object.entries(workspaceAccounts).map(([workspace, { roleArn, externalId, ...network }]) => {
    const role = { roleArn, externalId };
    return [workspace, createAwsProvider({ settings: { ...settings, ...network, agent }, role })] as const;
  });
  return byWorkspace(createAwsProvider({ settings: { ...settings, agent } }), new Map(accounts), { revoked });
}
