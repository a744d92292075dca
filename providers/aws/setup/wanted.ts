// The desired state of a prepared account. Ropewalk recognizes its resources by two tags, written by the call that creates
// them.
import type { Tag } from '@aws-sdk/client-ec2';

import { tagKeys } from '../settings.ts';

export interface Wanted {
  deploymentId: string;
  name: string;
  /** The operator's VPC and subnets, instead of new ones. */
  network: { id: string; subnets: readonly string[] } | null;
  /** null: keep the ranges of an existing group. */
  clientRanges: readonly string[] | null;
}

export const everywhere = '0.0.0.0/0';

const setupKey = 'ropewalk:setup';

export const setupTags = ({ deploymentId, name }: Pick<Wanted, 'deploymentId' | 'name'>, label = name): Tag[] => [
  { Key: tagKeys.deployment, Value: deploymentId },
  { Key: setupKey, Value: name },
  { Key: tagKeys.name, Value: label },
];

export const isOwn = (
  tags: readonly Tag[] | undefined,
  { deploymentId, name }: Pick<Wanted, 'deploymentId' | 'name'>,
): boolean =>
  (tags ?? []).some(({ Key, Value }) => Key === tagKeys.deployment && Value === deploymentId) &&
  (tags ?? []).some(({ Key, Value }) => Key === setupKey && Value === name);
