// Checks that the subnets are in the zones that the settings name. EC2 launches in the subnet's real zone, so a dry run does
// not detect a wrong one: a one-zone cluster would span two zones and pay for traffic between them.
import { paginateDescribeSubnets } from '@aws-sdk/client-ec2';

import { RopewalkError } from '../../domain/errors.ts';
import type { AssumedRole } from './assume-role.ts';
import { createAwsClients, destroyClients } from './clients.ts';
import { codeOf, messageOf } from './sdk-errors.ts';
import type { AwsFile } from './settings-file.ts';
import type { Subnet } from './settings.ts';

type Network = Pick<AwsFile, 'region' | 'subnets' | 'workerSubnets'>;

/**
 * Describes the zones. `role`: that of another account to check.
 *
 * @throws RopewalkError VALIDATION when EC2 shows a subnet in another zone or not at all, UNAVAILABLE when it does not answer.
 */
export async function checkSubnets(
  { region, subnets, workerSubnets }: Network,
  signal: AbortSignal,
  role: AssumedRole | null = null,
): Promise<string> {
  const wanted = [...subnets, ...(workerSubnets ?? [])];
  const zones = await zonesOf(region, wanted, signal, role);
  for (const { id, zone } of wanted) {
    const there = zones.get(id);
    if (there === zone) continue;
    const message =
      there === undefined
        ? `EC2 has no subnet ${id} in ${region}.`
        : `The subnet ${id} is in ${there}, and the settings say ${zone}.`;
    throw new RopewalkError({
      code: 'VALIDATION',
      message,
      hint: 'Correct subnets, or workerSubnets, in the file of ROPEWALK_AWS_SETTINGS (docs/aws.md).',
    });
  }
  return `${wanted.length} subnets in ${[...new Set(subnets.map(({ zone }) => zone))].join(', ')}`;
}

/**
 * Zone by subnet, without missing subnets. Uses a filter because one unknown id in the `SubnetIds` parameter would fail the
 * call.
 */
async function zonesOf(
  region: string,
  wanted: readonly Subnet[],
  signal: AbortSignal,
  role: AssumedRole | null,
): Promise<Map<string, string>> {
  const clients = createAwsClients(region, undefined, role);
  const Filters = [{ Name: 'subnet-id', Values: wanted.map(({ id }) => id) }];
  const zones = new Map<string, string>();
  try {
    for await (const { Subnets = [] } of paginateDescribeSubnets({ client: clients.ec2 }, { Filters })) {
      signal.throwIfAborted();
      for (const { SubnetId = '', AvailabilityZone = '' } of Subnets) zones.set(SubnetId, AvailabilityZone);
    }
    return zones;
  } catch (cause) {
    throw new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message: `The subnets in ${region} cannot be read: ${codeOf(cause)}: ${messageOf(cause)}`,
        hint: 'The policy of the control plane needs ec2:DescribeSubnets (ops/aws/control-plane.json).',
      },
      { cause },
    );
  } finally {
    destroyClients(clients);
  }
}
