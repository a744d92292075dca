// The known error codes of EC2, each with its scope and a message for users. The plan acts on scopes only. An unknown code is
// shown unchanged, and the launch is retried with backoff, a bounded number of times. Codes: AWS's documentation and
// Karpenter's pkg/errors, as of 2026-08.
import type { FailureScope } from '../../domain/cluster/state.ts';
import { maxUnknownLaunches } from '../../domain/cluster/limits.ts';

export interface KnownError {
  scope: FailureScope;
  /** The error and its remedy. */
  text: string;
}

const expired = 'The credentials of the control plane have expired: renew them.';

const table: Record<string, KnownError> = {
  InsufficientInstanceCapacity: offer('No capacity: AWS has none for this instance type in this zone now.'),
  UnfulfillableCapacity: offer('No capacity: AWS cannot fulfil this request now.'),
  InsufficientHostCapacity: offer('No capacity: AWS has no host for this instance type now.'),
  InsufficientReservedInstanceCapacity: offer('No capacity: the reserved instances are used up.'),
  ReservationCapacityExceeded: offer('No capacity: the capacity reservation is used up.'),
  InsufficientCapacity: offer('No capacity: AWS has none for this instance type now.'),
  InsufficientCapacityOnOutpost: offer('No capacity: the Outpost has none left.'),
  Unsupported: offer('This instance type is not offered in this zone.'),
  UnsupportedOperation: offer('This instance type does not support the request.'),
  InvalidAvailabilityZone: zone('The zone does not exist for this account.'),
  UnavailableZone: zone('The zone is not available.'),
  InsufficientFreeAddressesInSubnet: subnet(
    'The subnet has no free addresses: use a larger one, or terminate instances.',
  ),
  PrivateIpAddressLimitExceeded: subnet('The network interface has no address left.'),
  SpotMaxPriceTooLow: market('The maximum price is below the spot price: remove it.'),
  'AuthFailure.ServiceLinkedRoleCreationNotPermitted': market(
    'The account has no service-linked role for spot instances and is not allowed to create one: create AWSServiceRoleForEC2Spot, or use on-demand instances.',
  ),
  InvalidSpotInstanceRequestID: market('The spot request no longer exists.'),
  MaxSpotInstanceCountExceeded: quota(
    'The account has reached its vCPU quota for spot instances of this kind: raise it in Service Quotas, or use on-demand instances.',
  ),
  VcpuLimitExceeded: quota(
    'The account has reached its on-demand vCPU quota for this kind of instance: raise it in Service Quotas.',
  ),
  InstanceLimitExceeded: quota(
    'The account has reached its quota for instances of this kind: raise it in Service Quotas.',
  ),
  VolumeLimitExceeded: quota('The account has reached its quota for volumes: raise it in Service Quotas.'),
  VolumeTypeNotAvailableInZone: zone('This kind of volume is unavailable in this zone.'),
  MaxIOPSLimitExceeded: quota('The account has reached its quota for IOPS: raise it in Service Quotas.'),
  NetworkInterfaceLimitExceeded: quota(
    'The account has reached its quota for network interfaces: raise it in Service Quotas.',
  ),
  SecurityGroupLimitExceeded: quota(
    'The account has reached its quota for security groups: raise it in Service Quotas, or remove the ingress rules.',
  ),
  SecurityGroupsPerInterfaceLimitExceeded: request(
    'An instance is limited to fewer security groups: name fewer for schedulers in the AWS settings.',
  ),
  ResourceLimitExceeded: quota('The account has reached a quota of EC2: see Service Quotas.'),
  MaxFleetCountExceeded: account('The account has reached its quota for fleets in this region.'),
  UnauthorizedOperation: account(
    'AWS denied this: the role of the control plane lacks a permission. docs/aws.md lists those that it needs.',
  ),
  AuthFailure: account('AWS did not accept the credentials of the control plane.'),
  AccessDenied: account('AWS denied this: the role of the control plane lacks a permission.'),
  AccessDeniedException: account('AWS denied this: the role of the control plane lacks a permission.'),
  InvalidClientTokenId: account('AWS does not know the access key of the control plane.'),
  SignatureDoesNotMatch: account('The secret key of the control plane is wrong.'),
  ExpiredToken: account(expired),
  ExpiredTokenException: account(expired),
  // EC2 also returns this for an expired session.
  RequestExpired: account(
    'The credentials of the control plane have expired: renew them. Or the clock of this machine is wrong.',
  ),
  UnrecognizedClientException: account('AWS does not know the access key of the control plane.'),
  InvalidSignatureException: account('The secret key of the control plane is wrong, or the clock of this machine.'),
  IncompleteSignature: account('AWS did not accept the credentials of the control plane.'),
  MissingAuthenticationToken: account('AWS got no credentials of the control plane.'),
  MissingAuthenticationTokenException: account('AWS got no credentials of the control plane.'),
  TagPolicyViolation: account('A tag policy of the organization forbids these tags.'),
  OptInRequired: account('The account is not signed up for this service or region.'),
  Blocked: account('AWS has blocked launches by this account.'),
  PendingVerification: account('AWS is still verifying this account, which takes up to four hours.'),
  InvalidSubnet: request('The subnet of the configuration is not valid.'),
  'InvalidSubnetID.NotFound': request('The subnet of the configuration does not exist in this region.'),
  'InvalidGroup.NotFound': request('A security group of the configuration does not exist in this region.'),
  'InvalidSecurityGroupID.NotFound': request('A security group of the configuration does not exist in this region.'),
  'InvalidAMIID.NotFound': request('The machine image does not exist in this region.'),
  'InvalidAMIID.Malformed': request('The id of the machine image is not valid.'),
  'InvalidAMIID.Unavailable': request('The machine image is not available.'),
  'InvalidKeyPair.NotFound': request('The key pair does not exist in this region.'),
  InvalidParameterValue: request('AWS refused a value of the request.'),
  InvalidParameterCombination: request('AWS refused the request: its parameters are incompatible.'),
  InvalidParameter: request('AWS refused a parameter of the request.'),
  MissingParameter: request('AWS requires a parameter that the request lacks.'),
  InvalidInstanceType: request('AWS does not know this instance type.'),
  InvalidBlockDeviceMapping: request('AWS refused the requested disk.'),
  'InvalidUserData.Malformed': request('The user data is larger than AWS allows (16 KiB).'),
  InvalidFleetConfig: request('AWS refused the fleet of the request.'),
  InvalidFleetConfiguration: request('AWS refused the fleet of the request.'),
  TagLimitExceeded: request('A resource is limited to 50 tags, of which Ropewalk needs six: give fewer.'),
  'InvalidTagKey.Malformed': request('AWS refused the key of a tag.'),
  RulesPerSecurityGroupLimitExceeded: request(
    'The ingress rules are more than a security group can have: give larger ranges.',
  ),
  'InvalidPermission.Malformed': request('AWS refused an ingress rule.'),
  'InvalidVpcID.NotFound': request('The network of the configuration does not exist in this region.'),
  'InvalidGroupId.Malformed': request('The id of a security group in the configuration is not valid.'),
  'InvalidSubnetID.Malformed': request('The id of a subnet in the configuration is not valid.'),
  'InvalidLaunchTemplateId.VersionNotFound': cloud('The launch template does not exist (yet).'),
  ParameterNotFound: request('AWS Systems Manager has no such image parameter in this region: see gpuImage.'),
  'InvalidLaunchTemplateName.NotFoundException': cloud('The launch template does not exist (yet).'),
  'InvalidLaunchTemplateId.NotFound': cloud('The launch template does not exist (yet).'),
  // A launch without instances deletes its template with its exclusions, so another process may exclude other pools.
  IdempotentParameterMismatch: unknown('The answer to a previous attempt at this launch is no longer known.'),
  // The instance was terminated by automation in the account, or by EC2 for a reason that DescribeInstances reports. The next
  // launch has a new token.
  IdempotentInstanceTerminated: unknown(
    'The instance of a previous attempt at this launch has been terminated already.',
  ),
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

/** The table's codes, for the test of its completeness. */
export const knownCodes: readonly string[] = Object.keys(table);

/**
 * The meaning of an EC2 error. `message` is AWS's own sentence. The text ends with it, because only it names the resource, and
 * with the request id for AWS support, except for capacity errors.
 */
export function classify(code: string, message: string, requestId = ''): KnownError & { known: boolean } {
  const found = byMessage(code, message) ?? table[code] ?? null;
  const said = message === '' ? '' : ` AWS: ${message}`;
  const id = requestId === '' ? '' : ` (AWS request ${requestId})`;
  if (found !== null) {
    const { scope, text } = found;
    return { scope, text: `${text}${said}${isCapacity(scope) ? '' : id}`, known: true };
  }
  const what = code === '' ? 'an error without a code' : code;
  const text = `AWS answered ${what}, which Ropewalk does not know; it retries at most ${maxUnknownLaunches} times in a row.${said}${id}`;
  return { scope: 'unknown', text, known: false };
}

const isCapacity = (scope: FailureScope): boolean => ['offer', 'zone', 'subnet', 'market', 'quota'].includes(scope);

/** Codes whose meaning depends on the message. */
function byMessage(code: string, message: string): KnownError | null {
  // A new instance profile takes seconds to be visible everywhere; a missing one never is.
  if (code === 'InvalidParameterValue' && message.includes('Invalid IAM Instance Profile')) {
    const text = 'EC2 does not know the instance profile of the configuration (yet): does it exist, in this account?';
    return { scope: 'unknown', text };
  }
  if (message.includes('not eligible for Free Tier')) return account('The account is limited to free-tier types.');
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
function unknown(text: string): KnownError {
  return { scope: 'unknown', text };
}
function throttle(): KnownError {
  return { scope: 'throttle', text: 'AWS throttles the requests; Ropewalk waits and retries.' };
}
function cloud(text: string): KnownError {
  return { scope: 'cloud', text };
}
