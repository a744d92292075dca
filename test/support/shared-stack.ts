// The run's shared stack, with a workspace for one test file. For tests that kill nothing of the stack and change none of its
// settings. Instances of other files run in the same home: a test checks the processes of its own clusters only.
import { randomBytes } from 'node:crypto';

import { createClient } from '../../sdk/client.ts';
import type { Client } from '../../sdk/client.ts';
import { agentPids } from './kills.ts';
import { askForStack } from './shared-client.ts';
import type { SharedStackInfo } from './shared-client.ts';

export interface SharedStack extends SharedStackInfo {
  /** An admin's token of `workspace`. */
  token: string;
  workspace: string;
  /** With that token. */
  client: Client;
  /** Of these instances, those whose agent is alive. */
  livingAgents: (instances: readonly string[]) => string[];
}

export async function sharedStack(): Promise<SharedStack> {
  const info = await askForStack();
  const workspace = `test-${randomBytes(5).toString('hex')}`;
  const operator = createClient({ apiUrl: info.apiUrl, token: info.token });
  const { token } = (await operator.workspaces.create({ slug: workspace, admin: 'ada' })).admin;
  return {
    ...info,
    token,
    workspace,
    client: createClient({ apiUrl: info.apiUrl, token }),
    livingAgents: (instances) => {
      const living = agentPids(info.home);
      return instances.filter((id) => living.has(id));
    },
  };
}
