// The known error codes of Compute Engine, each with its scope and a message for users: codes of operations, and reasons of
// HTTP errors. The plan acts on scopes only; an unknown code is shown unchanged. Codes: Google's documentation, SkyPilot's
// failover handler and karpenter-provider-gcp, as of 2026-08.
import type { FailureScope } from '../../domain/cluster/state.ts';
import { maxUnknownLaunches } from '../../domain/cluster/limits.ts';

export interface KnownError {
  scope: FailureScope;
  /** The error and its remedy. */
  text: string;
}

const of = (scope: FailureScope, text: string): KnownError => ({ scope, text });
const noCapacity = of('offer', 'No capacity: Google Cloud has none for this machine type in this zone now.');
const noPermission = of(
  'account',
  'Google Cloud denied this: the service account of the control plane lacks a permission. docs/gcp.md lists those that it needs.',
);
const inUse = of('cloud', 'A resource of this request is still in use.');
const noBilling = of('account', 'Billing is disabled for the project: link it to a billing account.');
const throttled = of('throttle', 'Google Cloud throttles the requests; Ropewalk waits and retries.');
const overQuota = of(
  'quota',
  'The project has reached a quota: raise it in IAM & Admin, Quotas, or use another region or on-demand instances.',
);
const unavailable = of('cloud', 'Google Cloud is not available right now.');
const exists = of('unknown', 'An instance of this name exists already.');
const invalidRequest = of('request', 'Google Cloud refused a value of the request.');

const table: Readonly<Record<string, KnownError>> = {
  ZONE_RESOURCE_POOL_EXHAUSTED: noCapacity,
  ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: noCapacity,
  STOCKOUT: noCapacity,
  insufficientCapacity: noCapacity,
  resourcePoolExhausted: noCapacity,
  UNSUPPORTED_OPERATION: of(
    'offer',
    'The instance was preempted while it was created, or its type cannot be created here.',
  ),
  REGION_RESOURCE_POOL_EXHAUSTED: of('zone', 'No capacity: Google Cloud has none in this region now.'),
  VM_MIN_COUNT_NOT_REACHED: of('offer', 'No capacity: not even one instance fits in any of the zones now.'),
  IP_SPACE_EXHAUSTED: of('subnet', 'The subnetwork has no free addresses: expand its range, or terminate instances.'),
  IP_SPACE_EXHAUSTED_WITH_DETAILS: of(
    'subnet',
    'The subnetwork has no free addresses: expand its range, or terminate instances.',
  ),
  QUOTA_EXCEEDED: overQuota,
  quotaExceeded: overQuota,
  limitExceeded: overQuota,
  QUOTA_EXCEEDED_REGION: overQuota,
  RATE_LIMIT_EXCEEDED: throttled,
  rateLimitExceeded: throttled,
  userRateLimitExceeded: throttled,
  RESOURCE_OPERATION_RATE_EXCEEDED: throttled,
  OPERATION_RATE_EXCEEDED: throttled,
  concurrentLimitExceeded: throttled,
  RESOURCE_NOT_READY: of('cloud', 'Google Cloud is still changing a resource of this request.'),
  resourceNotReady: of('cloud', 'Google Cloud is still changing a resource of this request.'),
  resourceInUseByAnotherResource: inUse,
  RESOURCE_IN_USE_BY_ANOTHER_RESOURCE: inUse,
  RESOURCE_NOT_FOUND: of(
    'offer',
    'The instance disappeared while it was created: it was preempted, or has no capacity.',
  ),
  RESOURCE_ALREADY_EXISTS: exists,
  alreadyExists: exists,
  PERMISSIONS_ERROR: noPermission,
  IAM_PERMISSION_DENIED: noPermission,
  forbidden: noPermission,
  required: of('account', 'Google Cloud got no credentials: configure Application Default Credentials (docs/gcp.md).'),
  authError: of('account', 'Google Cloud did not accept the credentials of the control plane.'),
  unauthorized: of('account', 'Google Cloud did not accept the credentials of the control plane.'),
  SERVICE_ACCOUNT_ACCESS_DENIED: of(
    'account',
    "The control plane may not use the instances' service account: give it roles/iam.serviceAccountUser on it.",
  ),
  accessNotConfigured: of('account', 'The Compute Engine API is not enabled in the project: enable it.'),
  BILLING_DISABLED: noBilling,
  accountDisabled: of('account', 'The project has been disabled.'),
  orgPolicyViolation: of('account', 'A policy of the organization forbids this request.'),
  conditionNotMet: of('account', 'A policy of the organization forbids this request.'),
  CONDITION_NOT_MET: of('account', 'A policy of the organization forbids this request.'),
  notFound: of('request', 'A resource of the GCP settings does not exist in this project.'),
  invalid: invalidRequest,
  badRequest: invalidRequest,
  invalidUsage: invalidRequest,
  INVALID_USAGE: invalidRequest,
  INVALID_FIELD_VALUE: invalidRequest,
  invalidResourceUsage: invalidRequest,
  VPC_NOT_FOUND: of('request', 'The network of the GCP settings does not exist.'),
  SUBNET_NOT_FOUND_FOR_VPC: of('request', 'The subnetwork of the GCP settings does not exist in this region.'),
  wrongSubnetwork: of('request', 'The subnetwork of the GCP settings is of another network.'),
  badGateway: unavailable,
  backendError: unavailable,
  internalError: unavailable,
  INTERNAL_ERROR: unavailable,
  SERVICE_UNAVAILABLE: unavailable,
};

/** The table's codes, for the test of its completeness. */
export const knownCodes: readonly string[] = Object.keys(table);

/** The meaning of an error. `message` is Google's own sentence; the text ends with it, because only it names the resource. */
export function classify(code: string, message: string): KnownError & { known: boolean } {
  const found = byMessage(code, message) ?? table[code] ?? null;
  const said = message === '' ? '' : ` Google Cloud: ${message}`;
  if (found !== null) return { scope: found.scope, text: `${found.text}${said}`, known: true };
  const what = code === '' ? 'an error without a code' : code;
  const text = `Google Cloud answered ${what}, which Ropewalk does not know; it retries at most ${maxUnknownLaunches} times in a row.${said}`;
  return { scope: 'unknown', text, known: false };
}

/** Codes whose meaning depends on the message. */
function byMessage(code: string, message: string): KnownError | null {
  const isQuota = code === 'QUOTA_EXCEEDED' || code === 'quotaExceeded';
  if (isQuota && message.includes('GPUS_ALL_REGIONS'))
    return of('quota', 'The project has reached its quota for GPUs in all regions: raise GPUS_ALL_REGIONS in Quotas.');
  // Google uses `required` for a call without credentials and for a missing field.
  if (code === 'required' && !/login|authenticat|credential/i.test(message)) return invalidRequest;
  if (code === 'forbidden' && /rate limit/i.test(message)) return throttled;
  if (/^(forbidden|accessNotConfigured)$/.test(code) && /billing/i.test(message)) return noBilling;
  if (code === 'invalid' && /serviceAccount|service account/i.test(message))
    return of('request', 'The service account of the GCP settings does not exist.');
  if (code === 'invalid' && /[Mm]achine type/.test(message))
    return of('offer', 'This machine type is not offered in this zone.');
  return null;
}
