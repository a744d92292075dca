// Whose something is, as its tags say, and how EC2 is asked for what has certain tags.
import type { Filter, Tag } from '@aws-sdk/client-ec2';

import type { Owner } from '../provider.ts';
import { tagKeys } from './settings.ts';

/** null for what is not ours to understand: without our tags it is somebody else's. */
export function ownerIn(found: Tag[] | undefined): Owner | null {
  const tags = new Map((found ?? []).map(({ Key, Value }) => [Key, Value]));
  const deploymentId = tags.get(tagKeys.deployment);
  const workspace = tags.get(tagKeys.workspace);
  const cluster = Number(tags.get(tagKeys.cluster) ?? Number.NaN);
  if (deploymentId === undefined || workspace === undefined || !Number.isInteger(cluster)) return null;
  return { deploymentId, workspace, cluster };
}

/** All of these tags, with these very values: what EC2 would take for patterns is taken as it is. */
export const tagFilters = (tags: readonly Tag[]): Filter[] =>
  tags.map(({ Key, Value = '' }) => ({ Name: `tag:${Key}`, Values: [Value.replaceAll(/[*?\\]/g, '\\$&')] }));
