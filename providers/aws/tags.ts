// Tags name the owner of every resource that Ropewalk creates in an account.
import type { Filter, Tag } from '@aws-sdk/client-ec2';

import type { LaunchRequest, Owner } from '../provider.ts';
import { tagKeys } from './settings.ts';

export const tagsOf = (owner: Owner): Tag[] => [
  { Key: tagKeys.deployment, Value: owner.deploymentId },
  { Key: tagKeys.workspace, Value: owner.workspace },
  { Key: tagKeys.cluster, Value: String(owner.cluster) },
];

/** Tags of a launch's resources: the user's own, and those that name the owner. */
export const tagsOfLaunch = ({ owner, placement }: Pick<LaunchRequest, 'owner' | 'placement'>): Tag[] => [
  ...Object.entries(placement?.tags ?? {})
    .filter(([key]) => !key.startsWith('ropewalk:') && key !== tagKeys.name)
    .map(([Key, Value]) => ({ Key, Value })),
  ...tagsOf(owner),
];

/** null without Ropewalk's tags: the resource belongs to other software. */
export function ownerIn(found: Tag[] | undefined): Owner | null {
  const tags = new Map((found ?? []).map(({ Key, Value }) => [Key, Value]));
  const deploymentId = tags.get(tagKeys.deployment);
  const workspace = tags.get(tagKeys.workspace);
  const cluster = Number(tags.get(tagKeys.cluster) ?? Number.NaN);
  if (deploymentId === undefined || workspace === undefined || !Number.isInteger(cluster)) return null;
  return { deploymentId, workspace, cluster };
}

/** Matches resources with all of these tags and exact values: EC2's wildcards in a value are escaped. */
export const tagFilters = (tags: readonly Tag[]): Filter[] =>
  tags.map(({ Key, Value = '' }) => ({ Name: `tag:${Key}`, Values: [Value.replaceAll(/[*?\\]/g, '\\$&')] }));
