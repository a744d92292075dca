// The user data of an instance: it downloads the agent, verified by its hash, and contains the agent's boot data. It stays
// small (EC2's limit is 16 KiB) and holds no secret but the launch token, which is useless elsewhere: the API also requires the
// instance's signed identity, accepts the token's first use only, and requires that the instance was launched by Ropewalk.
import type { Architecture } from '../../domain/offers/offer.ts';
import { bootMarker } from '../../domain/cloud-names.ts';
import { agentSetup } from '../agent-setup.ts';
import type { AgentDownload } from '../agent-setup.ts';

export const userDataLimit = 16_384;

export interface InstanceBoot {
  apiUrl: string;
  launchToken: string;
  owner: { deploymentId: string; workspace: string; cluster: number };
}

export function renderUserData(boot: InstanceBoot, download: AgentDownload, architecture: Architecture): string {
  const text = `#!/bin/sh
${bootMarker} ${Buffer.from(JSON.stringify(boot)).toString('base64')}
${agentSetup(download, architecture, 'aws')}`;
  const bytes = Buffer.byteLength(text);
  if (bytes > userDataLimit)
    throw new Error(`The start-up script has ${bytes} bytes; EC2's limit is ${userDataLimit}.`);
  return text;
}
