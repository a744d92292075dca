// Tags name the owner of everything that Ropewalk creates in an account.
import type { Filter, Tag } from '@aws-sdk/client-ec2';

import type { LaunchRequest, Owner } from '../provider.ts';
import { tagKeys } from './settings.ts';

export const tagsOf = (owner: Owner): Tag[] => [
  { Key: tagKeys.deployment, Value: owner.deploymentId },
  { Key: tagKeys.workspace, Value: owner.workspace },
  { Key: tagKeys.cluster, Value: String(owner.cluster) },
];

/** Of what a launch creates: the user's own tags, and those that name the owner. */
export const tagsOfLaunch = ({ owner, placement }: Pick<LaunchRequest, 'owner' | 'placement'>): Tag[] => [
  ...Object.entries(placement?.tags ?? {})
    .filter(([key]) => !key.startsWith('ropewalk:') && key !== tagKeys.name)
    .map(([Key, Value]) => ({ Key, Value })),
  ...tagsOf(owner),
];

/** null without Ropewalk's tags: such a resource belongs to other software. */
export function ownerIn(found: Tag[] | undefined): Owner | null {
  const tags = new Map((found ?? []).map(({ Key, Value }) => [Key, Value]));
  const deploymentId = tags.get(tagKeys.deployment);
  const workspace = tags.get(tagKeys.workspace);
  const cluster = Number(tags.get(tagKeys.cluster) ?? Number.NaN);
  if (deploymentId === undefined || workspace === undefined || !Number.isInteger(cluster)) return null;
  return { deploymentId, workspace, cluster };
}

/** All of these tags with exactly these values: EC2's wildcards in a value are escaped. */
export const tagFilters = (tags: readonly Tag[]): Filter[] =>
  tags.map(({ Key, Value = '' }) => ({ Name: `tag:${Key}`, Values: [Value.replaceAll(/[*?\\]/g, '\\$&')] }));
