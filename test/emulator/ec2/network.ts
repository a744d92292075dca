// VPCs and internet gateways: limited in number, not deletable while in use, and eventually consistent.
import { AwsError } from '../aws-error.ts';
import { hexId, stateAt } from '../state.ts';
import type { Gateway, RouteTable, Vpc } from '../state.ts';
import type { Xml } from '../xml.ts';
import { matches, page, readTags, tagSet } from './call.ts';
import type { Call, Operation } from './call.ts';
import { readRange } from './cidr.ts';

/** AWS's default quota of a region, for VPCs and for internet gateways. */
const maxVpcs = 5;

export const createVpc: Operation = (call) => {
  const cidr = call.params.text('CidrBlock') ?? '';
  const range = readRange(cidr);
  if (range === null) {
    throw new AwsError(
      'InvalidParameterValue',
      `Value (${cidr}) for parameter cidrBlock is invalid. This is not a valid CIDR block.`,
    );
  }
  if (range.prefix < 16 || range.prefix > 28) throw new AwsError('InvalidVpc.Range', `The CIDR '${cidr}' is invalid.`);
  if (call.region.vpcs.size >= maxVpcs) {
    throw new AwsError('VpcLimitExceeded', 'The maximum number of VPCs has been reached.');
  }
  const vpc: Vpc = { ...created(call, 'vpc', 'vpc'), cidr, isDefault: false, dnsHostnames: false };
  call.region.vpcs.set(vpc.id, vpc);
  const table: RouteTable = {
    ...{ id: hexId('rtb'), vpc: vpc.id, isMain: true, routes: new Map(), subnets: new Map(), tags: {} },
    shownFromMs: vpc.shownFromMs,
  };
  call.region.routeTables.set(table.id, table);
  return { vpc: shownVpc(call, vpc) };
};

export const describeVpcs: Operation = (call) => {
  const ids = call.params.texts('VpcId');
  for (const id of ids) vpcOf(call, id);
  const found = seen(call, call.region.vpcs).filter(
    (vpc) =>
      (ids.length === 0 || ids.includes(vpc.id)) &&
      matches(call, (name) => {
        if (name === 'vpc-id') return [vpc.id];
        if (name === 'is-default') return [String(vpc.isDefault)];
        return tagValues(vpc.tags, name);
      }),
  );
  const { items, nextToken } = page(call, found);
  return { vpcSet: items.map((vpc) => shownVpc(call, vpc)), nextToken };
};

export const modifyVpcAttribute: Operation = (call) => {
  const vpc = vpcOf(call, call.params.text('VpcId') ?? '');
  const [hostnames, support] = [call.params.at('EnableDnsHostnames'), call.params.at('EnableDnsSupport')];
  if (hostnames.isEmpty === support.isEmpty) {
    throw new AwsError('InvalidParameterCombination', 'Exactly one attribute can be modified in a call.');
  }
  if (!hostnames.isEmpty) vpc.dnsHostnames = hostnames.text('Value') === 'true';
  return { return: true };
};

export const describeVpcAttribute: Operation = (call) => {
  const vpc = vpcOf(call, call.params.text('VpcId') ?? '');
  if (call.params.text('Attribute') === 'enableDnsSupport') return { vpcId: vpc.id, enableDnsSupport: { value: true } };
  return { vpcId: vpc.id, enableDnsHostnames: { value: vpc.dnsHostnames } };
};

export const deleteVpc: Operation = (call) => {
  const { id } = vpcOf(call, call.params.text('VpcId') ?? '');
  const { subnets, gateways, groups, routeTables } = call.region;
  const isHeld =
    subnets.some(({ vpc }) => vpc === id) ||
    [...gateways.values(), ...groups.values()].some(({ vpc }) => vpc === id) ||
    [...routeTables.values()].some(({ vpc, isMain }) => vpc === id && !isMain);
  if (isHeld) throw inUse(`The vpc '${id}' has dependencies and cannot be deleted.`);
  for (const table of routeTables.values()) if (table.vpc === id) routeTables.delete(table.id);
  call.region.vpcs.delete(id);
  return { return: true };
};

export const createInternetGateway: Operation = (call) => {
  if (call.region.gateways.size >= maxVpcs) {
    throw new AwsError('InternetGatewayLimitExceeded', 'The maximum number of internet gateways has been reached.');
  }
  const gateway: Gateway = { ...created(call, 'igw', 'internet-gateway'), vpc: null };
  call.region.gateways.set(gateway.id, gateway);
  return { internetGateway: shownGateway(call, gateway) };
};

export const describeInternetGateways: Operation = (call) => {
  const ids = call.params.texts('InternetGatewayId');
  for (const id of ids) gatewayOf(call, id);
  const found = seen(call, call.region.gateways).filter(
    (gateway) =>
      (ids.length === 0 || ids.includes(gateway.id)) &&
      matches(call, (name) => {
        if (name === 'internet-gateway-id') return [gateway.id];
        if (name === 'attachment.vpc-id') return gateway.vpc === null ? [] : [gateway.vpc];
        return tagValues(gateway.tags, name);
      }),
  );
  const { items, nextToken } = page(call, found);
  return { internetGatewaySet: items.map((gateway) => shownGateway(call, gateway)), nextToken };
};

export const attachInternetGateway: Operation = (call) => {
  const gateway = gatewayOf(call, call.params.text('InternetGatewayId') ?? '');
  const vpc = vpcOf(call, call.params.text('VpcId') ?? '');
  if (gateway.vpc !== null) {
    throw new AwsError(
      'Resource.AlreadyAssociated',
      `resource ${gateway.id} is already attached to network ${gateway.vpc}`,
    );
  }
  if ([...call.region.gateways.values()].some((other) => other.vpc === vpc.id)) {
    throw new AwsError('InvalidParameterValue', `Network ${vpc.id} already has an internet gateway attached`);
  }
  gateway.vpc = vpc.id;
  return { return: true };
};

export const detachInternetGateway: Operation = (call) => {
  const gateway = gatewayOf(call, call.params.text('InternetGatewayId') ?? '');
  const vpc = vpcOf(call, call.params.text('VpcId') ?? '');
  if (gateway.vpc !== vpc.id) {
    throw new AwsError('Gateway.NotAttached', `resource ${gateway.id} is not attached to network ${vpc.id}`);
  }
  const subnets = new Set(call.region.subnets.filter((subnet) => subnet.vpc === vpc.id).map(({ id }) => id));
  const isUsed = [...call.region.instances.values()].some(
    (instance) =>
      subnets.has(instance.subnet) && instance.publicIp !== null && stateAt(instance, call.nowMs) !== 'terminated',
  );
  if (isUsed) {
    throw inUse(
      `Network ${vpc.id} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.`,
    );
  }
  gateway.vpc = null;
  return { return: true };
};

export const deleteInternetGateway: Operation = (call) => {
  const gateway = gatewayOf(call, call.params.text('InternetGatewayId') ?? '');
  if (gateway.vpc !== null) {
    throw inUse(`The internetGateway '${gateway.id}' has dependencies and cannot be deleted.`);
  }
  call.region.gateways.delete(gateway.id);
  return { return: true };
};

export function vpcOf(call: Call, id: string): Vpc {
  const found = call.region.vpcs.get(id);
  if (found !== undefined && call.nowMs >= found.shownFromMs) return found;
  throw new AwsError('InvalidVpcID.NotFound', `The vpc ID '${id}' does not exist`);
}

export function gatewayOf(call: Call, id: string): Gateway {
  const found = call.region.gateways.get(id);
  if (found !== undefined && call.nowMs >= found.shownFromMs) return found;
  throw new AwsError('InvalidInternetGatewayID.NotFound', `The internetGateway ID '${id}' does not exist`);
}

/** The common attributes of every new network resource. */
export const created = (
  call: Call,
  prefix: string,
  type: string,
): { id: string; tags: Record<string, string>; shownFromMs: number } => ({
  id: hexId(prefix),
  tags: readTags(call, type),
  shownFromMs: call.nowMs + call.account.delays.visibleMs,
});

export const inUse = (message: string): AwsError => new AwsError('DependencyViolation', message);

export const seen = <T extends { shownFromMs: number }>(call: Call, all: ReadonlyMap<string, T>): T[] =>
  [...all.values()].filter(({ shownFromMs }) => call.nowMs >= shownFromMs);

export function tagValues(tags: Record<string, string>, name: string): string[] | null {
  if (name === 'tag-key') return Object.keys(tags);
  return name.startsWith('tag:') ? [tags[name.slice(4)]].filter((value) => value !== undefined) : null;
}

const shownVpc = (call: Call, { id, cidr, isDefault, tags }: Vpc): Xml => ({
  vpcId: id,
  ownerId: call.account.accountId,
  state: 'available',
  cidrBlock: cidr,
  instanceTenancy: 'default',
  isDefault,
  tagSet: tagSet(tags),
});

const shownGateway = (call: Call, { id, vpc, tags }: Gateway): Xml => ({
  internetGatewayId: id,
  ownerId: call.account.accountId,
  attachmentSet: vpc === null ? [] : [{ vpcId: vpc, state: 'available' }],
  tagSet: tagSet(tags),
});
