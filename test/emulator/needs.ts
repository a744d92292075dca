// The permissions of a request, by AWS's service authorization reference: on each resource that it names or creates, with the
// existing or requested tags, and the additional permissions for tagging and for passing a role. A missing resource is not
// checked: the operation itself reports it.
import { launchNeeds } from './launch-needs.ts';
import type { Need } from './policy.ts';
import {
  creation,
  ec2Arn,
  existing,
  need,
  tagContext,
  tagsFor,
  tagsOf,
  type Asking,
  type Kind,
} from './resource-needs.ts';

export function needsOf(asking: Asking): Need[] {
  const { service, action, region, account, body } = asking;
  switch (service) {
    case 'ec2':
      return ec2Needs(asking);
    case 'iam':
      return iamNeeds(asking);
    case 'sts':
      // Every identity may call GetCallerIdentity.
      return action === 'GetCallerIdentity' ? [] : [need('sts', action, asking.params.text('RoleArn') ?? '')];
    case 'ssm':
      return [need('ssm', action, `arn:aws:ssm:${region.name}::parameter${jsonText(body, 'Name')}`)];
    case 'logs':
      return [
        need(
          'logs',
          action,
          `arn:aws:logs:${region.name}:${account.accountId}:log-group:${jsonText(body, 'logGroupName')}`,
        ),
      ];
    default:
      return [need(service, action, '*')];
  }
}

const jsonText = (body: string, field: string): string => String(JSON.parse(body)[field] ?? '');

function ec2Needs(asking: Asking): Need[] {
  const { action } = asking;
  if (/^(Describe|Get)/.test(action) && changed[action] === undefined) return [need('ec2', action, '*')];
  if (action === 'RunInstances' || action === 'CreateFleet') return launchNeeds(asking);
  const create = created[action];
  if (create !== undefined) return createNeeds(asking, create);
  return (changed[action] ?? []).flatMap(([parameter, kind]) => {
    const ids = [...asking.params.texts(parameter), asking.params.text(parameter) ?? ''].filter((id) => id !== '');
    return ids.flatMap((id) => existing(asking, kind, id));
  });
}

/** Parameter and kind of each resource that an operation changes, or that it alone reads. */
const changed: Record<string, [parameter: string, kind: Kind][]> = {
  AssociateRouteTable: [
    ['RouteTableId', 'route-table'],
    ['SubnetId', 'subnet'],
  ],
  AttachInternetGateway: [
    ['InternetGatewayId', 'internet-gateway'],
    ['VpcId', 'vpc'],
  ],
  AuthorizeSecurityGroupIngress: [['GroupId', 'security-group']],
  CreateRoute: [['RouteTableId', 'route-table']],
  DescribeVpcAttribute: [['VpcId', 'vpc']],
  DeleteInternetGateway: [['InternetGatewayId', 'internet-gateway']],
  DeleteLaunchTemplate: [
    ['LaunchTemplateId', 'launch-template'],
    ['LaunchTemplateName', 'launch-template'],
  ],
  DeleteRouteTable: [['RouteTableId', 'route-table']],
  DeleteSecurityGroup: [['GroupId', 'security-group']],
  DeleteSubnet: [['SubnetId', 'subnet']],
  DeleteVolume: [['VolumeId', 'volume']],
  DeleteVpc: [['VpcId', 'vpc']],
  DetachInternetGateway: [
    ['InternetGatewayId', 'internet-gateway'],
    ['VpcId', 'vpc'],
  ],
  DisassociateRouteTable: [['AssociationId', 'route-table']],
  ModifyVpcAttribute: [['VpcId', 'vpc']],
  RevokeSecurityGroupIngress: [['GroupId', 'security-group']],
  TerminateInstances: [['InstanceId', 'instance']],
};

/** The kind of resource that an operation creates; it uses the VPC that it names. */
const created: Record<string, Kind> = {
  CreateInternetGateway: 'internet-gateway',
  CreateLaunchTemplate: 'launch-template',
  CreateRouteTable: 'route-table',
  CreateSecurityGroup: 'security-group',
  CreateSubnet: 'subnet',
  CreateVpc: 'vpc',
};

function createNeeds(asking: Asking, kind: Kind): Need[] {
  const { action, params } = asking;
  const vpc = params.text('VpcId');
  return [
    ...creation(asking, kind, tagsFor(params, kind)),
    ...(vpc === null ? [] : [need('ec2', action, ec2Arn(asking, 'vpc', vpc), tagContext(tagsOf(asking, 'vpc', vpc)))]),
  ];
}

function iamNeeds({ action, params, account }: Asking): Need[] {
  const arn = (kind: string, name: string): string => `arn:aws:iam::${account.accountId}:${kind}/${name}`;
  const [role, profile] = [params.text('RoleName'), params.text('InstanceProfileName')];
  const policy =
    params.text('PolicyArn') ?? (action === 'CreatePolicy' ? arn('policy', params.text('PolicyName') ?? '') : null);
  const isTagged = params.items('Tags.member').length > 0;
  switch (action) {
    case 'CreateServiceLinkedRole': {
      const service = params.text('AWSServiceName') ?? '';
      const name = service.startsWith('spot') ? 'AWSServiceRoleForEC2Spot' : 'AWSServiceRoleForEC2Fleet';
      return [
        need('iam', action, arn('role/aws-service-role', `${service}/${name}`), { 'iam:AWSServiceName': service }),
      ];
    }
    case 'AddRoleToInstanceProfile':
      return [
        need('iam', action, arn('instance-profile', profile ?? '')),
        need('iam', 'PassRole', arn('role', role ?? ''), { 'iam:PassedToService': 'ec2.amazonaws.com' }),
      ];
    case 'AttachRolePolicy':
    case 'DetachRolePolicy':
      return [need('iam', action, arn('role', role ?? ''), { 'iam:PolicyARN': policy ?? '' })];
    case 'CreateInstanceProfile':
    case 'CreatePolicy':
    case 'CreateRole': {
      const resource = policy ?? (profile === null ? arn('role', role ?? '') : arn('instance-profile', profile));
      const tag = action.replace('Create', 'Tag');
      return [need('iam', action, resource), ...(isTagged ? [need('iam', tag, resource)] : [])];
    }
    default: {
      const resource = policy ?? (profile === null ? arn('role', role ?? '') : arn('instance-profile', profile));
      return [need('iam', action, resource)];
    }
  }
}
