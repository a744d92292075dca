// The caller whose usage is counted: a user, with any token; one instance; and for bodies all agents of a cluster.
import type { InstanceClaims, LaunchClaims } from '../../platform/tokens.ts';
import type { Actor } from '../context.ts';
import type { QuotaCaller } from '../quotas.ts';

export const callerOf = ({ workspace, userId }: Pick<Actor, 'workspace' | 'userId'>): QuotaCaller => ({
  id: `user/${userId}`,
  workspace,
});

/** Instances have no workspace limit here, because their number is already limited. */
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
