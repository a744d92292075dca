// Explains how much a cluster or job could grow within the quota of its workspace and of its user.
import { plural } from '../units.ts';
import { fact, type WhySentence } from '../why.ts';
import type { WorkspaceLimits } from './state.ts';

type Countable = Pick<WorkspaceLimits, 'instances' | 'vcpus'>;

export interface QuotaInUse {
  user: string;
  workspace: { limits: Countable; use: Countable };
  /** Only the figures that are limited for this user. */
  ofUser: { limits: Partial<Countable>; use: Countable };
  /** vCPUs of one more worker. */
  instanceVcpus: number;
}

/** The tightest limit determines how many more instances the quota allows. */
export function explainQuota({ user, workspace, ofUser, instanceVcpus }: QuotaInUse): WhySentence[] {
  const rooms = [
    ...roomsOf('the workspace', workspace.limits, workspace.use, instanceVcpus),
    ...roomsOf(user, ofUser.limits, ofUser.use, instanceVcpus),
  ];
  const [least] = rooms.toSorted((a, b) => a.instances - b.instances);
  if (least === undefined) return [];
  const { who, what, used, limit, instances } = least;
  const room =
    instances === 0
      ? 'The quota has no room for another instance'
      : `The quota allows ${plural(instances, 'more instance')}`;
  return [
    {
      about: 'size',
      text: `${room}: ${who} has reserved ${used} of ${limit} ${what}.`,
      facts: [fact(`${what} reserved`, used), fact(`${what} limit`, limit)],
    },
  ];
}

function roomsOf(who: string, limits: Partial<Countable>, use: Countable, instanceVcpus: number) {
  const room = (what: 'instances' | 'vCPUs', limit: number | undefined, used: number, each: number) =>
    limit === undefined
      ? []
      : [{ who, what, used, limit, instances: Math.max(0, Math.floor((limit - used) / Math.max(1, each))) }];
  return [
    ...room('instances', limits.instances, use.instances, 1),
    ...room('vCPUs', limits.vcpus, use.vcpus, instanceVcpus),
  ];
}
