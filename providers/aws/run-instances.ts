// RunInstances, where fleets are not allowed: one type and one subnet in each call, in order, until all are launched.
import { RunInstancesCommand } from '@aws-sdk/client-ec2';
import type { _InstanceType } from '@aws-sdk/client-ec2';

import type { LaunchFailure } from '../../domain/cluster/state.ts';
import type { AwsClients } from './clients.ts';
import { launchedEarlier } from './previous-attempt.ts';
import { classify } from './errors.ts';
import { accountFor, clientToken, failureOf, tagSpecifications } from './pools.ts';
import type { Given, Wanted } from './pools.ts';
import { networkInterface } from './templates.ts';
import { codeOf, isAnswer, mayHaveLaunched, messageOf, requestIdOf } from './sdk-errors.ts';

/** Each try is a call that may be throttled: the first few types must do. */
const maxTypes = 3;

export async function runInstances(clients: AwsClients, wanted: Wanted): Promise<Given> {
  const { count, placement, oneZone, request, role, earlierUntilMs } = wanted;
  const failures: LaunchFailure[] = [];
  const types = [...new Set(wanted.pools.map(({ type }) => type))].slice(0, maxTypes);
  const pools = wanted.pools
    .filter(({ type }) => types.includes(type))
    .map((pool) => ({ ...pool, token: clientToken('run', request.token, role, pool.type, pool.subnet.id) }));
  const tokens = pools.map(({ token }) => token);
  const earlier = earlierUntilMs === null ? [] : await launchedEarlier(clients, tokens, count, earlierUntilMs);
  const instances: Given['instances'] = pools.flatMap(({ type, subnet, token }) =>
    earlier.filter((each) => each.token === token).map(({ id }) => ({ id, type, zone: subnet.zone })),
  );
  // On from the last that gave something: of those before it, each has been asked, for another count.
  const from = 1 + pools.findLastIndex(({ token }) => earlier.some((each) => each.token === token));
  for (const { type, subnet, token } of pools.slice(from)) {
    const zone = instances[0]?.zone ?? subnet.zone;
    if (instances.length === count || (oneZone && zone !== subnet.zone)) continue;
    const pool = { type, zone: subnet.zone, market: placement.market };
    try {
      const ids = await runOne(clients, wanted, { type, subnet: subnet.id, token, atMost: count - instances.length });
      instances.push(...ids.map((id) => ({ id, type, zone: subnet.zone })));
    } catch (error) {
      if (!isAnswer(error) || mayHaveLaunched(error)) throw error;
      failures.push(failureOf(pool, codeOf(error), messageOf(error), 0, requestIdOf(error)));
      const { scope } = classify(codeOf(error), messageOf(error));
      // What is wrong everywhere need not be tried everywhere.
      if (scope === 'request' || scope === 'account' || scope === 'quota') break;
    }
  }
  const where = { zone: '', market: placement.market };
  return { instances, failures: accountFor(count - instances.length, failures, where), told: failures };
}

async function runOne(
  clients: AwsClients,
  wanted: Wanted,
  { type, subnet, token, atMost }: { type: string; subnet: string; token: string; atMost: number },
): Promise<string[]> {
  const { role, template, placement, settings } = wanted;
  const command = new RunInstancesCommand({
    LaunchTemplate: { LaunchTemplateName: template, Version: '1' },
    // The SDK lists the types of its own day; EC2 refuses what it does not know.
    InstanceType: type as _InstanceType,
    // EC2 takes no subnet beside a template that has an interface: the request brings its own, whole.
    NetworkInterfaces: [{ ...networkInterface(settings, role), SubnetId: subnet }],
    MinCount: 1,
    MaxCount: atMost,
    ClientToken: token,
    ...(placement.market === 'spot' ? { InstanceMarketOptions: { MarketType: 'spot' as const } } : {}),
    TagSpecifications: tagSpecifications(wanted, ['instance', 'volume', 'network-interface']),
  });
  const answer = await clients.limiter.run('run', () => clients.launching.send(command));
  return (answer.Instances ?? []).flatMap(({ InstanceId }) => InstanceId ?? []);
}
