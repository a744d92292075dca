// RunInstances, for accounts without fleets: one type and one subnet per call, in order, until all instances are launched.
import { RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { _InstanceType } from '@aws-sdk/client-ec2';

import type { LaunchFailure } from '../../domain/cluster/state.ts';
import type { AwsClients } from './clients.ts';
import { findPreviouslyLaunched } from './previous-attempt.ts';
import { classify } from './errors.ts';
import { accountFor, clientToken, failureOf, tagSpecifications } from './pools.ts';
import type { RoleLaunch, RoleOutcome } from './pools.ts';
import { networkInterface } from './templates.ts';
import { errorOf, isAnswer, mayHaveLaunched } from './sdk-errors.ts';

/** Each attempt is a call that may be throttled, so only the first few types are tried. */
const maxTypes = 3;

export async function runInstances(clients: AwsClients, launch: RoleLaunch): Promise<RoleOutcome> {
  const { count, placement, oneZone, request, role, previousShownMs } = launch;
  const failures: LaunchFailure[] = [];
  const types = [...new Set(launch.pools.map(({ type }) => type))].slice(0, maxTypes);
  const pools = launch.pools
    .filter(({ type }) => types.includes(type))
    .map((pool) => ({ ...pool, token: clientToken('run', request.token, role, pool.type, pool.subnet.id) }));
  const tokens = pools.map(({ token }) => token);
  const previous =
    previousShownMs === null ? [] : await findPreviouslyLaunched(clients, tokens, count, previousShownMs);
  const instances: RoleOutcome['instances'] = pools.flatMap(({ type, subnet, token }) =>
    previous.filter((each) => each.token === token).map(({ id }) => ({ id, type, zone: subnet.zone })),
  );
  // Continues after the last pool that returned instances: each pool before it has been tried, for another count.
  const from = 1 + pools.findLastIndex(({ token }) => previous.some((each) => each.token === token));
  for (const { type, subnet, token } of pools.slice(from)) {
    const zone = instances[0]?.zone ?? subnet.zone;
    if (instances.length === count || (oneZone && zone !== subnet.zone)) continue;
    const pool = { type, zone: subnet.zone, market: placement.market };
    try {
      const ids = await runOne(clients, launch, { type, subnet: subnet.id, token, max: count - instances.length });
      instances.push(...ids.map((id) => ({ id, type, zone: subnet.zone })));
    } catch (error) {
      if (!isAnswer(error) || mayHaveLaunched(error)) throw error;
      const { code, message, requestId } = errorOf(error);
      failures.push(failureOf(pool, { code, message, requestId }));
      const { scope } = classify(code, message);
      // Every other pool would fail with the same error.
      if (scope === 'request' || scope === 'account' || scope === 'quota') break;
    }
  }
  const where = { zone: '', market: placement.market };
  return { instances, failures: accountFor(count - instances.length, failures, where), poolFailures: failures };
}

async function runOne(
  clients: AwsClients,
  launch: RoleLaunch,
  { type, subnet, token, max }: { type: string; subnet: string; token: string; max: number },
): Promise<string[]> {
  const { role, template, placement, settings } = launch;
  const command = new RunInstancesCommand({
    LaunchTemplate: { LaunchTemplateName: template, Version: '1' },
    // The SDK lists the types of its release date; EC2 refuses unknown types.
    InstanceType: type as _InstanceType,
    // EC2 refuses a subnet beside a template with an interface, so the request has its own interface.
    NetworkInterfaces: [{ ...networkInterface(settings, role), SubnetId: subnet }],
    MinCount: 1,
    MaxCount: max,
    ClientToken: token,
    ...(placement.market === 'spot' ? { InstanceMarketOptions: { MarketType: 'spot' as const } } : {}),
    TagSpecifications: tagSpecifications(launch, ['instance', 'volume', 'network-interface']),
  });
  const answer = await clients.limiter.run('run', () => clients.launching.send(command));
  return (answer.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
}
