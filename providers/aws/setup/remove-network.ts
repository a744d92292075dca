// Deletes all of setup's tagged resources in a region, in an order that EC2 accepts.
import {
  DeleteInternetGatewayCommand,
  DeleteRouteTableCommand,
  DeleteSecurityGroupCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DescribeInstancesCommand,
  DescribeInternetGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  DetachInternetGatewayCommand,
  DisassociateRouteTableCommand,
  type EC2Client,
} from '@aws-sdk/client-ec2';

import type { SetupStep } from '../../manifest.ts';
import { carryOutRemovals, requireNone } from '../../removals.ts';
import { codeOf } from '../sdk-errors.ts';
import { tagKeys } from '../settings.ts';
import { tagFilters } from '../tags.ts';
import { type Calls, explained } from './calls.ts';
import { setupTags, type Wanted } from './wanted.ts';

export interface Removal {
  step: SetupStep;
  remove: (calls: Calls) => Promise<unknown>;
}

/** @throws RopewalkError CONFLICT while instances of the deployment exist in the region. */
export async function planNetworkRemoval(ec2: EC2Client, region: string, wanted: Wanted): Promise<Removal[]> {
  await requireNoInstances(ec2, region, wanted.deploymentId);
  const Filters = tagFilters(setupTags(wanted).slice(0, 2));
  const [groups, tables, subnets, gateways, vpcs] = await Promise.all([
    ec2.send(new DescribeSecurityGroupsCommand({ Filters })),
    ec2.send(new DescribeRouteTablesCommand({ Filters })),
    ec2.send(new DescribeSubnetsCommand({ Filters })),
    ec2.send(new DescribeInternetGatewaysCommand({ Filters })),
    ec2.send(new DescribeVpcsCommand({ Filters })),
  ]);
  const found: Removal[] = [];
  const add = (
    kind: string,
    id: string | undefined,
    name: string,
    remove: (calls: Calls, id: string) => Promise<unknown>,
  ) => {
    if (id === undefined) return;
    const step: SetupStep = { action: 'delete', region, kind, name, id, detail: '' };
    found.push({ step, remove: (calls) => remove(calls, id) });
  };
  for (const { GroupId, GroupName = '' } of groups.SecurityGroups ?? []) {
    add('security group', GroupId, GroupName, (calls, id) =>
      calls.ec2.send(new DeleteSecurityGroupCommand({ GroupId: id })),
    );
  }
  for (const { RouteTableId, Associations = [] } of tables.RouteTables ?? []) {
    add('route table', RouteTableId, wanted.name, async (calls, id) => {
      for (const { RouteTableAssociationId: AssociationId, Main } of Associations) {
        if (Main !== true) await gone(calls.ec2.send(new DisassociateRouteTableCommand({ AssociationId })));
      }
      await calls.ec2.send(new DeleteRouteTableCommand({ RouteTableId: id }));
    });
  }
  for (const { SubnetId, AvailabilityZone = '' } of subnets.Subnets ?? []) {
    const name = `${wanted.name}-${AvailabilityZone}`;
    add('subnet', SubnetId, name, (calls, id) => calls.ec2.send(new DeleteSubnetCommand({ SubnetId: id })));
  }
  for (const { InternetGatewayId, Attachments = [] } of gateways.InternetGateways ?? []) {
    add('internet gateway', InternetGatewayId, wanted.name, async (calls, id) => {
      for (const { VpcId } of Attachments) {
        await gone(calls.ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId: id, VpcId })));
      }
      await calls.ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId: id }));
    });
  }
  for (const { VpcId } of vpcs.Vpcs ?? []) {
    add('vpc', VpcId, wanted.name, (calls, id) => calls.ec2.send(new DeleteVpcCommand({ VpcId: id })));
  }
  return found;
}

export const carryOut = (
  calls: Calls,
  removals: readonly Removal[],
  onDone: (step: SetupStep) => void,
): Promise<void> =>
  carryOutRemovals(
    removals,
    calls.signal,
    (remove, { kind, name, id }, where) =>
      gone(remove(calls)).catch((error: unknown) => {
        throw explained(`delete ${kind} ${name} (${id ?? ''})${where}`, error);
      }),
    onDone,
  );

/** An earlier run may have deleted it, and the listing may be stale. */
async function gone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!/(\.NotFound|^Gateway\.NotAttached|^NoSuchEntityException)$/.test(codeOf(error))) throw error;
  }
}

async function requireNoInstances(ec2: EC2Client, region: string, deploymentId: string): Promise<void> {
  const Filters = [
    ...tagFilters([{ Key: tagKeys.deployment, Value: deploymentId }]),
    { Name: 'instance-state-name', Values: ['pending', 'running', 'stopping', 'stopped', 'shutting-down'] },
  ];
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ Filters }));
  const ids = Reservations.flatMap(({ Instances = [] }) => Instances.flatMap(({ InstanceId }) => InstanceId ?? []));
  requireNone(region, ids);
}
