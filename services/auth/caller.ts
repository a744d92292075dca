// Whose use is counted: a user's, whatever the token; one instance's; and for bodies that of all agents of a cluster.
import type { InstanceClaims, LaunchClaims } from '../../platform/tokens.ts';
import type { Actor } from '../context.ts';
import type { QuotaCaller } from '../quotas.ts';

export const callerOf = ({ workspace, userId }: Pick<Actor, 'workspace' | 'userId'>): QuotaCaller => ({
  id: `user/${userId}`,
  workspace,
});

/** Instances have limits of their workspace already: how many there are is one. */
export const callerOfInstance = ({ instance }: Pick<InstanceClaims, 'instance'>): QuotaCaller => ({
  id: `instance/${instance}`,
  workspace: null,
});

export const callerOfLaunch = ({ cluster, seq }: Pick<LaunchClaims, 'cluster' | 'seq'>): QuotaCaller => ({
  id: `launch/${cluster}/${seq}`,
  workspace: null,
});

export const callerOfAgents = ({ workspace, cluster }: Pick<InstanceClaims, 'workspace' | 'cluster'>): QuotaCaller => ({
  id: `cluster/${cluster}`,
  workspace,
});
