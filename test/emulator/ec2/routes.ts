// Route tables: a subnet has one table, a destination one route, and a table with a subnet is not deleted.
import { AwsError } from '../aws-error.ts';
import { hexId } from '../state.ts';
import type { RouteTable } from '../state.ts';
import type { Xml } from '../xml.ts';
import { matches, page, tagSet } from './call.ts';
import type { Call, Operation } from './call.ts';
import { created, gatewayOf, inUse, seen, tagValues, vpcOf } from './network.ts';
import { subnetOf } from './subnets.ts';

export const createRouteTable: Operation = (call) => {
  const vpc = vpcOf(call, call.params.text('VpcId') ?? '');
  const table: RouteTable = {
    ...created(call, 'rtb', 'route-table'),
    ...{ vpc: vpc.id, isMain: false, routes: new Map(), subnets: new Map() },
  };
  call.region.routeTables.set(table.id, table);
  return { routeTable: shown(call, table) };
};

export const describeRouteTables: Operation = (call) => {
  const ids = call.params.texts('RouteTableId');
  for (const id of ids) tableOf(call, id);
  const found = seen(call, call.region.routeTables).filter(
    (table) =>
      (ids.length === 0 || ids.includes(table.id)) &&
      matches(call, (name) => {
        if (name === 'vpc-id') return [table.vpc];
        if (name === 'association.subnet-id') return [...table.subnets.values()];
        if (name === 'association.main') return [String(table.isMain)];
        return tagValues(table.tags, name);
      }),
  );
  const { items, nextToken } = page(call, found, 100);
  return { routeTableSet: items.map((table) => shown(call, table)), nextToken };
};

export const createRoute: Operation = (call) => {
  const table = tableOf(call, call.params.text('RouteTableId') ?? '');
  const destination = call.params.text('DestinationCidrBlock') ?? '';
  const gateway = gatewayOf(call, call.params.text('GatewayId') ?? '');
  if (gateway.vpc !== table.vpc) {
    const message = `route table ${table.id} and network gateway ${gateway.id} belong to different networks`;
    throw new AwsError('InvalidParameterValue', message);
  }
  // The same route again changes nothing.
  if ((table.routes.get(destination) ?? gateway.id) !== gateway.id) {
    throw new AwsError('RouteAlreadyExists', `The route identified by ${destination} already exists.`);
  }
  table.routes.set(destination, gateway.id);
  return { return: true };
};

export const associateRouteTable: Operation = (call) => {
  const table = tableOf(call, call.params.text('RouteTableId') ?? '');
  const subnet = subnetOf(call, call.params.text('SubnetId') ?? '');
  if (subnet.vpc !== table.vpc) {
    throw new AwsError(
      'InvalidParameterValue',
      `Route table ${table.id} and subnet ${subnet.id} belong to different networks`,
    );
  }
  for (const other of call.region.routeTables.values()) {
    for (const [association, id] of other.subnets) {
      if (id !== subnet.id) continue;
      if (other.id === table.id) return answer(association);
      const message = `the specified association for route table ${table.id} conflicts with an existing association`;
      throw new AwsError('Resource.AlreadyAssociated', message);
    }
  }
  const association = hexId('rtbassoc');
  table.subnets.set(association, subnet.id);
  return answer(association);
};

export const disassociateRouteTable: Operation = (call) => {
  const association = call.params.text('AssociationId') ?? '';
  const table = [...call.region.routeTables.values()].find(({ subnets }) => subnets.has(association));
  if (table === undefined) {
    throw new AwsError('InvalidAssociationID.NotFound', `The association ID '${association}' does not exist`);
  }
  table.subnets.delete(association);
  return { return: true };
};

export const deleteRouteTable: Operation = (call) => {
  const table = tableOf(call, call.params.text('RouteTableId') ?? '');
  if (table.isMain || table.subnets.size > 0) {
    throw inUse(`The routeTable '${table.id}' has dependencies and cannot be deleted.`);
  }
  call.region.routeTables.delete(table.id);
  return { return: true };
};

const answer = (associationId: string): { [name: string]: Xml } => ({
  associationId,
  associationState: { state: 'associated' },
});

function tableOf(call: Call, id: string): RouteTable {
  const found = call.region.routeTables.get(id);
  if (found !== undefined && call.nowMs >= found.shownFromMs) return found;
  throw new AwsError('InvalidRouteTableID.NotFound', `The routeTable ID '${id}' does not exist`);
}

const shown = (call: Call, { id, vpc, isMain, routes, subnets, tags }: RouteTable): Xml => ({
  routeTableId: id,
  ownerId: call.account.accountId,
  vpcId: vpc,
  routeSet: [...routes].map(([destinationCidrBlock, gatewayId]) => ({
    ...{ destinationCidrBlock, gatewayId },
    ...{ origin: 'CreateRoute', state: call.region.gateways.get(gatewayId)?.vpc === vpc ? 'active' : 'blackhole' },
  })),
  associationSet: [
    ...(isMain ? [{ routeTableAssociationId: `${id}-main`, routeTableId: id, main: true }] : []),
    ...[...subnets].map(([routeTableAssociationId, subnetId]) => ({
      ...{ routeTableAssociationId, routeTableId: id, subnetId, main: false },
    })),
  ],
  tagSet: tagSet(tags),
});
