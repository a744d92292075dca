// Errors of S3 and S3-compatible servers: each known code as a sentence with a remedy. The only file with these codes. Codes:
// AWS's list of S3 error responses; connection errors are Node's.
import { RopewalkError } from '../../domain/errors.ts';
import type { S3Location } from './location.ts';

type Location = Pick<S3Location, 'bucket' | 'region' | 'endpoint'>;

/**
 * An error whose message has S3's refusal, the reason, and a remedy; never a credential. Errors without an answer are
 * unchanged.
 */
export function s3Error(error: unknown, location: Location): unknown {
  const code = codeOf(error);
  const status = statusOf(error);
  if (status === null && sentences[code] === undefined) return error;
  const known = sentences[code] ?? (status === 301 ? sentences['PermanentRedirect'] : undefined);
  const { message, hint } = known?.(location) ?? {
    message: `The object store refused a request: ${code || 'unknown error'}${status === null ? '' : ` (HTTP ${status})`}.`,
    hint: `Check the bucket ${location.bucket} and its server.`,
  };
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause: error });
}

/** HEAD has no body, so the SDK only has the status. */
export const isMissingObject = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(codeOf(error));
/** 412: the object exists. */
export const isExisting = (error: unknown): boolean => statusOf(error) === 412;
/** 409: another conditional write to the same key was in progress. */
export const isConflicting = (error: unknown): boolean => codeOf(error) === 'ConditionalRequestConflict';

interface Sentence {
  message: string;
  hint: string;
}

const serverOf = ({ endpoint }: Location): string => endpoint ?? 'S3';

const unreachable = (why: string) => (location: Location) => ({
  message: `The object store does not answer: ${serverOf(location)} ${why}.`,
  hint: 'Requests are repeated. Check the network, the endpoint in ROPEWALK_OBJECTS and the server.',
});

const badCredentials = (location: Location) => ({
  message: `${serverOf(location)} does not accept the credentials for the bucket ${location.bucket}.`,
  hint: 'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile, or the role of the host, and its clock.',
});

const wrongRegion = ({ bucket, region }: Location) => ({
  message: `The bucket ${bucket} is not in the region ${region ?? 'of the AWS configuration'}.`,
  hint: 'Add its region to the URL: ROPEWALK_OBJECTS=s3://BUCKET/PREFIX?region=REGION.',
});

const sentences: Record<string, (location: Location) => Sentence> = {
  NoSuchBucket: ({ bucket }) => ({
    message: `There is no bucket ${bucket}.`,
    hint: 'Create it, or correct ROPEWALK_OBJECTS. For S3 Ropewalk creates none.',
  }),
  AccessDenied: ({ bucket }) => ({
    message: `The credentials have no right to this request in the bucket ${bucket}.`,
    hint: 'They need s3:GetObject, s3:PutObject and s3:DeleteObject on its objects and s3:ListBucket on the bucket: ops/aws/object-store.json.',
  }),
  InvalidAccessKeyId: badCredentials,
  SignatureDoesNotMatch: badCredentials,
  ExpiredToken: badCredentials,
  InvalidToken: badCredentials,
  RequestTimeTooSkewed: badCredentials,
  CredentialsProviderError: ({ bucket }) => ({
    message: `There are no credentials for the bucket ${bucket}.`,
    hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give the host an instance role.',
  }),
  PermanentRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
  IllegalLocationConstraintException: wrongRegion,
  'Region is missing': wrongRegion,
  ECONNREFUSED: unreachable('refuses connections'),
  ENOTFOUND: unreachable('has no address'),
  EAI_AGAIN: unreachable('has no address'),
  ECONNRESET: unreachable('closed the connection'),
  EPIPE: unreachable('closed the connection'),
  ETIMEDOUT: unreachable('did not answer in time'),
  TimeoutError: unreachable('did not answer in time'),
  SlowDown: unreachable('asks for fewer requests'),
  ServiceUnavailable: unreachable('is unavailable'),
  InternalError: unreachable('has an internal error'),
};

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.message === 'Region is missing') return error.message;
  if ('code' in error && typeof error.code === 'string' && sentences[error.code] !== undefined) return error.code;
  // Node reports several failed addresses as one AggregateError.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.name;
}

function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return null;
  const metadata = error.$metadata;
  const isStatus = typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata;
  return isStatus && typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : null;
}
