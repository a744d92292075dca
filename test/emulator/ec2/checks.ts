// EC2's refusals before a request has any effect: tags, tokens, filters, pages, ids. Bounds are those of the API reference and of
// botocore's service model.
import { AwsError } from '../aws-error.ts';
import type { Params } from '../params.ts';

export function checkRequest(action: string, params: Params): void {
  for (const specification of params.items('TagSpecification')) checkTags(specification, taggable[action] ?? []);
  for (const specification of params.at('LaunchTemplateData').items('TagSpecification')) {
    checkTags(specification, ['instance', 'volume', 'network-interface', 'spot-instances-request']);
  }
  const kinds = params.items('TagSpecification').map((each) => each.text('ResourceType'));
  if (new Set(kinds).size < kinds.length) throw invalid('The same resource type must not appear multiple times.');
  if (action === 'TerminateInstances' && params.texts('InstanceId').length === 0)
    throw new AwsError('InvalidParameterCombination', 'No instances specified');
  const token = params.text('ClientToken');
  if (token !== null && /[^\x20-\x7e]/.test(token)) throw invalid('The client token must be ASCII.');
  if (token !== null && (token.length === 0 || token.length > maxTokenLength)) {
    throw invalid(
      `Value (${token}) for parameter clientToken is invalid. Expecting at most ${maxTokenLength} characters.`,
    );
  }
  checkFilters(action, params);
  checkPage(action, params);
  for (const id of params.texts('InstanceId')) {
    if (!/^i-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id))
      throw new AwsError('InvalidInstanceID.Malformed', `Invalid id: "${id}"`);
  }
}

const maxTokenLength = 64;
const maxTags = 50;

const taggable: Record<string, string[]> = {
  CreateFleet: ['fleet', 'instance', 'volume', 'network-interface', 'spot-instances-request'],
  RunInstances: ['instance', 'volume', 'network-interface', 'spot-instances-request'],
  CreateLaunchTemplate: ['launch-template'],
  CreateSecurityGroup: ['security-group'],
  CreateVpc: ['vpc'],
  CreateSubnet: ['subnet'],
  CreateRouteTable: ['route-table'],
  CreateInternetGateway: ['internet-gateway'],
};

function checkTags(specification: Params, allowed: readonly string[]): void {
  const type = specification.text('ResourceType') ?? '';
  if (!allowed.includes(type)) throw invalid(`'${type}' is not a valid taggable resource type for this operation.`);
  const tags = specification
    .items('Tag')
    .map((tag) => ({ key: tag.text('Key') ?? '', value: tag.text('Value') ?? '' }));
  if (tags.length > maxTags)
    throw new AwsError('TagLimitExceeded', 'The maximum number of Tags for a resource has been reached.');
  for (const [at, { key, value }] of tags.entries()) {
    if (key === '') throw invalid('Tag keys must not be empty.');
    if (/^aws:/i.test(key)) throw invalid("Tag keys starting with 'aws:' are reserved for internal use");
    if (key.length > 128) throw invalid(`Tag key exceeds the maximum length of 128 characters`);
    if (value.length > 256) throw invalid(`Tag value exceeds the maximum length of 256 characters`);
    if (tags.findIndex((other) => other.key === key) !== at) throw invalid(`Duplicate tag key '${key}' specified.`);
  }
}

/** The filters that the emulator applies. EC2 has more, and refuses an unknown name with the same message. */
const filters: Record<string, RegExp> = {
  DescribeAvailabilityZones: /^(zone-name|zone-type|opt-in-status|state|region-name)$/,
  DescribeInstances: /^(tag-key|instance-state-name|instance-id|client-token|availability-zone)$/,
  DescribeInstanceTypes: /^(instance-type|processor-info\.supported-architecture)$/,
  DescribeInstanceTypeOfferings: /^(instance-type|location)$/,
  DescribeInternetGateways: /^(internet-gateway-id|attachment\.vpc-id|tag-key)$/,
  DescribeLaunchTemplates: /^(launch-template-name|tag-key)$/,
  DescribeRouteTables: /^(vpc-id|association\.subnet-id|association\.main|tag-key)$/,
  DescribeSecurityGroups: /^(group-name|group-id|vpc-id|tag-key)$/,
  DescribeSpotPriceHistory: /^(availability-zone)$/,
  DescribeSubnets: /^(vpc-id|subnet-id|availability-zone|tag-key)$/,
  DescribeVolumes: /^(tag-key|status|volume-id|availability-zone|attachment\.instance-id)$/,
  DescribeVpcs: /^(vpc-id|is-default|tag-key)$/,
};
const maxValues = 200;

function checkFilters(action: string, params: Params): void {
  const given = params.items('Filter');
  for (const filter of given) {
    const name = filter.text('Name') ?? '';
    const isKnown = name.startsWith('tag:') || filters[action]?.test(name) === true;
    if (!isKnown) throw invalid(`The filter '${name}' is invalid`);
    if (filter.texts('Value').length === 0) throw invalid(`The filter '${name}' has no values.`);
  }
  if (given.reduce((sum, filter) => sum + filter.texts('Value').length, 0) > maxValues) {
    throw new AwsError(
      'FilterLimitExceeded',
      `The maximum number of filter values specified on a single call is ${maxValues}.`,
    );
  }
}

/** MaxResults: minimum and maximum. */
const pages: Record<string, [number, number]> = {
  DescribeInstances: [5, 1_000],
  DescribeInstanceTypes: [5, 100],
  DescribeInstanceTypeOfferings: [5, 1_000],
  DescribeInternetGateways: [5, 1_000],
  DescribeLaunchTemplates: [1, 200],
  DescribeRouteTables: [5, 100],
  DescribeSecurityGroups: [5, 1_000],
  DescribeSpotPriceHistory: [1, 1_000],
  DescribeSubnets: [5, 1_000],
  DescribeVolumes: [5, 1_000],
  DescribeVpcs: [5, 1_000],
};

function checkPage(action: string, params: Params): void {
  const [least, most] = pages[action] ?? [1, 1_000];
  const size = params.text('MaxResults');
  if (size !== null && !(Number(size) >= least && Number(size) <= most)) {
    throw invalid(
      `Value ( ${size} ) for parameter maxResults is invalid. Expecting a value between ${least} and ${most}.`,
    );
  }
  const token = params.text('NextToken');
  if (token !== null && !/^[0-9a-z]{1,8}$/.test(token)) {
    throw new AwsError('InvalidNextToken', 'The specified NextToken is not valid.');
  }
}

const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
