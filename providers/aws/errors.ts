// Every error code of EC2 that we know, what it reaches, and what people read. The plan acts on scopes alone; a code that
// is not in the table is shown as it came and tried again with growing pauses, a bounded number of times.
// Codes: AWS's documentation and Karpenter's pkg/errors, as of 2026-08.
import type { FailureScope } from '../../domain/cluster/state.ts';
import { maxUnclearLaunches } from '../../domain/limits.ts';

export interface KnownError {
  scope: FailureScope;
  /** What happened and what to do. */
  text: string;
}

const table: Record<string, KnownError> = {
  InsufficientInstanceCapacity: offer('AWS has no capacity for this instance type in this zone right now.'),
  UnfulfillableCapacity: offer('AWS cannot fulfil this request from its capacity right now.'),
  InsufficientHostCapacity: offer('AWS has no host for this instance type right now.'),
  InsufficientReservedInstanceCapacity: offer('The reserved capacity is used up.'),
  ReservationCapacityExceeded: offer('The capacity reservation is used up.'),
  InsufficientCapacity: offer('AWS has no capacity for this instance type right now.'),
  InsufficientCapacityOnOutpost: offer('The Outpost has no capacity left.'),
  Unsupported: offer('This instance type is not offered in this zone.'),
  UnsupportedOperation: offer('This instance type does not support what was asked of it.'),
  InvalidAvailabilityZone: zone('The zone does not exist for this account.'),
  UnavailableZone: zone('The zone is not available.'),
  InsufficientFreeAddressesInSubnet: subnet('The subnet has no free addresses; use a larger one, or end instances.'),
  PrivateIpAddressLimitExceeded: subnet('The network interface has no address left.'),
  SpotMaxPriceTooLow: market('The maximum price is below the spot price; leave it out.'),
  'AuthFailure.ServiceLinkedRoleCreationNotPermitted': market(
    'The account has no service-linked role for spot instances, and may not make one: create AWSServiceRoleForEC2Spot, or use on-demand instances.',
  ),
  InvalidSpotInstanceRequestID: market('The spot request is gone.'),
  MaxSpotInstanceCountExceeded: quota(
    'The account may not run more spot instances of this kind (vCPU quota): ask AWS to raise it in Service Quotas, or use on-demand.',
  ),
  VcpuLimitExceeded: quota(
    'The account may not run more vCPUs of this kind: ask AWS to raise the on-demand quota in Service Quotas.',
  ),
  InstanceLimitExceeded: quota('The account may not run more instances of this kind: ask AWS to raise the quota.'),
  VolumeLimitExceeded: quota('The account may not have more volumes: ask AWS to raise the quota.'),
  VolumeTypeNotAvailableInZone: zone('This kind of volume is not to be had in this zone.'),
  MaxIOPSLimitExceeded: quota('The account has used its IOPS: ask AWS to raise the quota.'),
  NetworkInterfaceLimitExceeded: quota('The account may not have more network interfaces: ask AWS to raise the quota.'),
  SecurityGroupLimitExceeded: quota(
    'The account may not have more security groups: ask AWS to raise the quota, or leave out who may come in.',
  ),
  SecurityGroupsPerInterfaceLimitExceeded: request(
    'An instance may not have that many security groups: name fewer for schedulers in the AWS settings.',
  ),
  ResourceLimitExceeded: quota('The account is at a limit of EC2: see Service Quotas.'),
  MaxFleetCountExceeded: account('The account may not have more fleets in this region.'),
  UnauthorizedOperation: account(
    'AWS did not allow this: the role of the control plane lacks a permission. docs/aws.md lists what it needs.',
  ),
  AuthFailure: account('AWS did not accept the credentials of the control plane.'),
  AccessDenied: account('AWS did not allow this: the role of the control plane lacks a permission.'),
  AccessDeniedException: account('AWS did not allow this: the role of the control plane lacks a permission.'),
  InvalidClientTokenId: account('AWS does not know the access key of the control plane.'),
  SignatureDoesNotMatch: account('The secret key of the control plane is wrong.'),
  ExpiredToken: account('The credentials of the control plane have expired.'),
  RequestExpired: account('The request was too old for AWS: is the clock of this machine right?'),
  OptInRequired: account('The account is not signed up for this service or region.'),
  Blocked: account('AWS has blocked this account from launching.'),
  PendingVerification: account('AWS is still verifying this account; this takes up to four hours.'),
  InvalidSubnet: request('The subnet of the configuration is not valid.'),
  'InvalidSubnetID.NotFound': request('The subnet of the configuration does not exist in this region.'),
  'InvalidGroup.NotFound': request('A security group of the configuration does not exist in this region.'),
  'InvalidSecurityGroupID.NotFound': request('A security group of the configuration does not exist in this region.'),
  'InvalidAMIID.NotFound': request('The machine image does not exist in this region.'),
  'InvalidAMIID.Malformed': request('The id of the machine image is not valid.'),
  'InvalidAMIID.Unavailable': request('The machine image is not available.'),
  'InvalidKeyPair.NotFound': request('The key pair does not exist in this region.'),
  InvalidParameterValue: request('AWS refused a value of the request.'),
  InvalidParameterCombination: request('AWS refused the request: parts of it do not go together.'),
  InvalidParameter: request('AWS refused a parameter of the request.'),
  MissingParameter: request('AWS misses a parameter in the request.'),
  InvalidInstanceType: request('AWS does not know this instance type.'),
  InvalidBlockDeviceMapping: request('AWS refused the disk that was asked for.'),
  'InvalidUserData.Malformed': request('The start-up script is larger than AWS allows (16 KiB).'),
  'InvalidLaunchTemplateName.NotFoundException': cloud('The launch template is not there (yet).'),
  'InvalidLaunchTemplateId.NotFound': cloud('The launch template is not there (yet).'),
  // A try that gave nothing has taken along what it left out, and another process leaves out something else.
  IdempotentParameterMismatch: unclear('What an earlier try of this launch was answered is not known any more.'),
  RequestLimitExceeded: throttle(),
  Throttling: throttle(),
  ThrottlingException: throttle(),
  RequestThrottled: throttle(),
  EC2ThrottledException: throttle(),
  InternalError: cloud('AWS had an internal error.'),
  InternalFailure: cloud('AWS had an internal error.'),
  'Server.InternalError': cloud('AWS had an internal error.'),
  ServiceUnavailable: cloud('AWS is not available right now.'),
  Unavailable: cloud('AWS is not available right now.'),
};

/** Codes of the table, for whoever checks that it is whole. */
export const knownCodes: readonly string[] = Object.keys(table);

/**
 * What an error of EC2 means. `message` is AWS's own sentence; it ends what people read, since only it names the thing, with
 * the id by which AWS's support finds the request, unless AWS has simply not got what was asked for.
 */
export function classify(code: string, message: string, requestId = ''): KnownError & { known: boolean } {
  const found = byMessage(code, message) ?? table[code] ?? null;
  const said = message === '' ? '' : ` AWS: ${message}`;
  const id = requestId === '' ? '' : ` (AWS request ${requestId})`;
  if (found !== null) {
    const { scope, text } = found;
    return { scope, text: `${text}${said}${isLack(scope) ? '' : id}`, known: true };
  }
  const what = code === '' ? 'an error without a code' : code;
  const text = `AWS answered ${what}, which Ropewalk does not know; it tries again, at most ${maxUnclearLaunches} times in a row.${said}${id}`;
  return { scope: 'unclear', text, known: false };
}

const isLack = (scope: FailureScope): boolean => ['offer', 'zone', 'subnet', 'market', 'quota'].includes(scope);

/** Some codes mean several things. */
function byMessage(code: string, message: string): KnownError | null {
  // A new instance profile takes seconds to be known everywhere; one that does not exist is never known.
  if (code === 'InvalidParameterValue' && message.includes('Invalid IAM Instance Profile')) {
    const text = 'EC2 does not know the instance profile of the configuration (yet): does it exist, in this account?';
    return { scope: 'unclear', text };
  }
  if (message.includes('not eligible for Free Tier')) return account('The account may launch free-tier types only.');
  return null;
}

function offer(text: string): KnownError {
  return { scope: 'offer', text };
}
function zone(text: string): KnownError {
  return { scope: 'zone', text };
}
function subnet(text: string): KnownError {
  return { scope: 'subnet', text };
}
function market(text: string): KnownError {
  return { scope: 'market', text };
}
function quota(text: string): KnownError {
  return { scope: 'quota', text };
}
function account(text: string): KnownError {
  return { scope: 'account', text };
}
function request(text: string): KnownError {
  return { scope: 'request', text };
}
function unclear(text: string): KnownError {
  return { scope: 'unclear', text };
}
function throttle(): KnownError {
  return { scope: 'throttle', text: 'AWS answers no faster; Ropewalk waits and asks again.' };
}
function cloud(text: string): KnownError {
  return { scope: 'cloud', text };
}
