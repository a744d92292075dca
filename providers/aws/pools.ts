// What one call asks of EC2: so many instances of one role, out of these types and subnets.
import { createHash } from 'node:crypto';

import type { InstanceRole, LaunchFailure } from '../../domain/cluster/state.ts';
import type { LaunchRequest, Market, Placement } from '../provider.ts';
import { classify } from './errors.ts';
import { tagsOf } from './templates.ts';
import { tagKeys } from './settings.ts';
import type { AwsSettings } from './settings.ts';

export interface Wanted {
  request: LaunchRequest;
  role: InstanceRole;
  count: number;
  placement: Placement;
  /** In these, the most wanted first; never empty. */
  pools: Pool[];
  /** All in the same zone. */
  oneZone: boolean;
  template: string;
  settings: Pick<AwsSettings, 'assignPublicIps' | 'securityGroups'>;
  /** Of a repeat: when, by performance.now(), EC2 shows all that earlier tries have launched. null for a first try. */
  earlierUntilMs: number | null;
}

export interface Pool {
  type: string;
  subnet: AwsSettings['subnets'][number];
  priority: number;
}

export interface Given {
  instances: { id: string; type: string; zone: string }[];
  failures: LaunchFailure[];
  /** What each pool said that could not give, also where others gave it all. */
  told: LaunchFailure[];
}

/** EC2 takes 300 pools in a request; Karpenter asks for at most 60 types. */
const maxPools = 300;

export function poolsOf({ types }: Placement, subnets: AwsSettings['subnets']): Pool[] {
  const some = types.slice(0, Math.max(1, Math.floor(maxPools / subnets.length)));
  return some.flatMap((type, priority) => subnets.map((subnet) => ({ type, subnet, priority })));
}

/** EC2 remembers it: the same token is the same instances. At most 64 characters. */
export const clientToken = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 64);

/** Instances, their volumes and interfaces are tagged by the very call that makes them. */
export function tagSpecifications(
  { request, role }: Wanted,
  resources: readonly ('instance' | 'volume' | 'network-interface' | 'fleet')[],
) {
  const tags = [
    ...tagsOf(request.owner),
    { Key: tagKeys.name, Value: `${request.clusterName}-${role}` },
    { Key: tagKeys.role, Value: role },
  ];
  return resources.map((ResourceType) => ({ ResourceType, Tags: tags }));
}

export function failureOf(
  pool: { type: string; zone: string; market: Market },
  code: string,
  message: string,
  count: number,
  requestId = '',
): LaunchFailure {
  const { scope, text } = classify(code, message, requestId);
  return { offer: pool.type, zone: pool.zone, market: pool.market, code, scope, text, count };
}

/**
 * Failures of one call, so that their counts add up to what is missing: EC2 tells which pools failed, not how many
 * instances each owes. The first reason of the list carries the number.
 */
export function accountFor(
  missing: number,
  failures: LaunchFailure[],
  pool: { zone: string; market: Market },
): LaunchFailure[] {
  if (missing === 0) return [];
  const unexplained = failureOf(
    { type: '', ...pool },
    'UnfulfillableCapacity',
    'AWS launched fewer than asked, and gave no reason.',
    0,
  );
  const all = failures.length === 0 ? [unexplained] : failures;
  return all.map((failure, at) => ({ ...failure, count: at === 0 ? missing : 0 }));
}
