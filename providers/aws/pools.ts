// One call to EC2 for the instances of one role: its pools (a type in a subnet), its client token and tags, and its outcome.
import { createHash } from 'node:crypto';

import type { InstanceRole, LaunchFailure } from '../../domain/cluster/state.ts';
import type { LaunchRequest, Market, Placement } from '../provider.ts';
import { classify } from './errors.ts';
import { tagKeys } from './settings.ts';
import type { AwsSettings } from './settings.ts';
import { tagsOfLaunch } from './tags.ts';

export interface RoleLaunch {
  request: LaunchRequest;
  role: InstanceRole;
  count: number;
  placement: Placement;
  /** In order of preference; never empty. */
  pools: Pool[];
  /** Whether all instances must be in the same zone. */
  oneZone: boolean;
  template: string;
  settings: Pick<AwsSettings, 'assignPublicIps' | 'securityGroups' | 'workerSubnets'>;
  /**
   * For a retry: the `performance.now()` time by which EC2 shows all instances of previous attempts. null for a first attempt.
   */
  previousShownMs: number | null;
}

export interface Pool {
  type: string;
  subnet: AwsSettings['subnets'][number];
  priority: number;
}

export interface RoleOutcome {
  instances: { id: string; type: string; zone: string }[];
  failures: LaunchFailure[];
  /** The failure of each pool, also when other pools launched everything. */
  poolFailures: LaunchFailure[];
}

/** EC2 accepts 300 pools in a request; Karpenter uses at most 60 types. */
const maxPools = 300;

export function poolsOf({ types }: Placement, subnets: AwsSettings['subnets']): Pool[] {
  const some = types.slice(0, Math.max(1, Math.floor(maxPools / subnets.length)));
  return some.flatMap((type, priority) => subnets.map((subnet) => ({ type, subnet, priority })));
}

/** EC2 remembers it: the same token returns the same instances. At most 64 characters. */
export const clientToken = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 64);

/** The call that creates instances also tags them, their volumes and interfaces. */
export function tagSpecifications(
  { request, role }: RoleLaunch,
  resources: readonly ('instance' | 'volume' | 'network-interface' | 'fleet')[],
) {
  const tags = [
    ...tagsOfLaunch(request),
    { Key: tagKeys.name, Value: `${request.clusterName}-${role}` },
    { Key: tagKeys.role, Value: role },
  ];
  return resources.map((ResourceType) => ({ ResourceType, Tags: tags }));
}

export interface PoolError {
  code: string;
  message: string;
  /** AWS support finds the request by it. */
  requestId?: string;
}

export function failureOf(
  pool: { type: string; zone: string; market: Market },
  { code, message, requestId = '' }: PoolError,
  count = 0,
): LaunchFailure {
  const { scope, text } = classify(code, message, requestId);
  return { offer: pool.type, zone: pool.zone, market: pool.market, code, scope, text, count };
}

/**
 * Distributes the missing instances over the failures of one call: EC2 reports which pools failed, but no counts. The first
 * failure carries the whole count.
 */
export function accountFor(
  missing: number,
  failures: LaunchFailure[],
  pool: { zone: string; market: Market },
): LaunchFailure[] {
  if (missing === 0) return [];
  const message = 'AWS launched fewer instances than requested, and gave no reason.';
  const unexplained = failureOf({ type: '', ...pool }, { code: 'UnfulfillableCapacity', message });
  const all = failures.length === 0 ? [unexplained] : failures;
  return all.map((failure, at) => ({ ...failure, count: at === 0 ? missing : 0 }));
}
