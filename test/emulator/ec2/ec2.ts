// The EC2 Query API: finds the operation, and makes launches idempotent by their client token.
import { AwsError } from '../aws-error.ts';
import type { Params } from '../params.ts';
import type { Region } from '../state.ts';
import type { EmulatedAccount } from '../account.ts';
import { ec2Answer } from '../xml.ts';
import type { Operation } from './call.ts';
import { checkRequest } from './checks.ts';
import {
  describeAvailabilityZones,
  describeImages,
  describeInstanceTypeOfferings,
  describeInstanceTypes,
  describeRegions,
  describeSpotPriceHistory,
} from './catalogue.ts';
import { describeInstances, getConsoleOutput, terminateInstances } from './instances.ts';
import { createFleet, requestedRun, runInstances } from './launches.ts';
import {
  attachInternetGateway,
  createInternetGateway,
  createVpc,
  deleteInternetGateway,
  deleteVpc,
  describeInternetGateways,
  describeVpcAttribute,
  describeVpcs,
  detachInternetGateway,
  modifyVpcAttribute,
} from './network.ts';
import {
  associateRouteTable,
  createRoute,
  createRouteTable,
  deleteRouteTable,
  describeRouteTables,
  disassociateRouteTable,
} from './routes.ts';
import { createSubnet, deleteSubnet, describeSubnets } from './subnets.ts';
import {
  authorizeSecurityGroupIngress,
  createSecurityGroup,
  deleteSecurityGroup,
  describeSecurityGroups,
  revokeSecurityGroupIngress,
} from './security-groups.ts';
import { createLaunchTemplate, deleteLaunchTemplate, describeLaunchTemplates } from './templates.ts';
import { deleteVolume, describeVolumes } from './volumes.ts';

const operations: Record<string, Operation> = {
  AssociateRouteTable: associateRouteTable,
  AttachInternetGateway: attachInternetGateway,
  CreateInternetGateway: createInternetGateway,
  CreateRoute: createRoute,
  CreateRouteTable: createRouteTable,
  CreateSubnet: createSubnet,
  CreateVpc: createVpc,
  DeleteInternetGateway: deleteInternetGateway,
  DeleteRouteTable: deleteRouteTable,
  DeleteSubnet: deleteSubnet,
  DeleteVpc: deleteVpc,
  DescribeInternetGateways: describeInternetGateways,
  DescribeRouteTables: describeRouteTables,
  DescribeVpcAttribute: describeVpcAttribute,
  DescribeVpcs: describeVpcs,
  RevokeSecurityGroupIngress: revokeSecurityGroupIngress,
  DetachInternetGateway: detachInternetGateway,
  DisassociateRouteTable: disassociateRouteTable,
  ModifyVpcAttribute: modifyVpcAttribute,
  AuthorizeSecurityGroupIngress: authorizeSecurityGroupIngress,
  CreateFleet: createFleet,
  CreateLaunchTemplate: createLaunchTemplate,
  DeleteLaunchTemplate: deleteLaunchTemplate,
  CreateSecurityGroup: createSecurityGroup,
  DeleteSecurityGroup: deleteSecurityGroup,
  DeleteVolume: deleteVolume,
  DescribeAvailabilityZones: describeAvailabilityZones,
  DescribeImages: describeImages,
  DescribeInstances: describeInstances,
  DescribeInstanceTypeOfferings: describeInstanceTypeOfferings,
  DescribeInstanceTypes: describeInstanceTypes,
  DescribeLaunchTemplates: describeLaunchTemplates,
  DescribeRegions: describeRegions,
  DescribeSecurityGroups: describeSecurityGroups,
  DescribeSpotPriceHistory: describeSpotPriceHistory,
  DescribeSubnets: describeSubnets,
  DescribeVolumes: describeVolumes,
  GetConsoleOutput: getConsoleOutput,
  RunInstances: runInstances,
  TerminateInstances: terminateInstances,
};

export function callEc2(account: EmulatedAccount, region: Region, params: Params, requestId: string): string {
  const action = params.text('Action') ?? '';
  if (action === 'DescribeFleetInstances') {
    throw new AwsError('Unsupported', 'DescribeFleetInstances is not supported for fleets of type instant.');
  }
  const operation = operations[action];
  if (operation === undefined)
    throw new AwsError('InvalidAction', `The action ${action} is not valid for this web service.`);
  checkRequest(action, params);
  const call = { account, region, params, nowMs: account.clock.nowMs() };
  if (params.text('DryRun') === 'true') {
    if (action === 'RunInstances') requestedRun(call);
    throw new AwsError('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
  }
  const answer = (): string => ec2Answer(action, requestId, operation(call));
  const token = params.text('ClientToken');
  if (token === null) return answer();
  const isRepeat = region.tokens.has(`${action} ${token}`);
  const text = once(region, `${action} ${token}`, params.content(['ClientToken']), answer);
  return isRepeat && account.repeatsFleetsBare
    ? text.replace(/<(fleetInstanceSet|errorSet)>.*<\/\1>/gs, '<$1/>')
    : text;
}

/** The same token with the same content gets the same answer; a call that failed as a whole may be retried. */
function once(region: Region, key: string, content: string, answer: () => string): string {
  const earlier = region.tokens.get(key);
  if (earlier === undefined) {
    const made = answer();
    region.tokens.set(key, { content, answer: made });
    return made;
  }
  if (earlier.content === content) return earlier.answer;
  throw new AwsError(
    'IdempotentParameterMismatch',
    'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).',
  );
}
