// Errors of Google Cloud Storage, each as a sentence with a remedy. The only file with these reasons. Reasons: Google's list of
// status and error codes of the JSON API; connection errors are Node's.
import { RopewalkError } from '../../domain/errors.ts';
import type { GcsLocation } from './location.ts';

export interface GcsAnswer {
  status: number;
  headers: Headers;
  body: Uint8Array;
  /** An earlier attempt, whose answer did not arrive, may have succeeded. */
  isRepeat: boolean;
}

interface Sentence {
  message: string;
  hint: string;
}

const hostOf = ({ endpoint }: GcsLocation): string => endpoint ?? 'storage.googleapis.com';

/** The error of an unsuccessful answer; never contains a credential. */
export function gcsRefusal({ status, body }: Pick<GcsAnswer, 'status' | 'body'>, location: GcsLocation): RopewalkError {
  const { reason, message } = refusalIn(body);
  return unavailable(sentenceOf(status, reason, message, location));
}

/** The error of a request without an answer; other errors are unchanged. */
export function gcsFailure(error: unknown, location: GcsLocation): unknown {
  if (error instanceof RopewalkError || !(error instanceof Error)) return error;
  const why = lookUp(error);
  if (why !== null) {
    const hint = 'Requests are repeated. Check the network, and the endpoint in ROPEWALK_OBJECTS if it has one.';
    return unavailable({ message: `The object store does not answer: ${hostOf(location)} ${why}.`, hint }, error);
  }
  if (/default credentials/i.test(error.message)) {
    const message = `There are no credentials for the bucket ${location.bucket}.`;
    return unavailable({ message, hint: credentialsHint }, error);
  }
  if (isTokenError(error)) {
    const message = `Google does not accept the credentials for the bucket ${location.bucket}.`;
    return unavailable({ message, hint: credentialsHint }, error);
  }
  return error;
}

/** The error of a request to IAM's signBlob: the credentials have a token by then. Null for errors of other requests. */
export function signingFailure(error: unknown, { signing }: GcsLocation): RopewalkError | null {
  if (!(error instanceof Error) || !(isOfSigning(error) || error.name === 'TimeoutError')) return null;
  const status = 'status' in error && typeof error.status === 'number' ? error.status : null;
  if (status === 401) return null;
  const host = signing?.endpoint ?? 'iamcredentials.googleapis.com';
  const why = status === null ? (lookUp(error) ?? 'gave no answer') : busyWith(status);
  if (why === null) {
    const message = `IAM Service Account Credentials refused to sign a URL (HTTP ${status}): ${error.message.slice(0, 300)}`;
    return unavailable({ message, hint: 'Check the service account and its project.' }, error);
  }
  const hint =
    'Try again. If it goes on, see the network and the status page of Google Cloud; without signedUrls=true in ROPEWALK_OBJECTS, files go through the API.';
  return unavailable({ message: `IAM Service Account Credentials does not answer: ${host} ${why}.`, hint }, error);
}

/** Errors of Google's library have the request that failed. */
const isOfSigning = (error: object): boolean =>
  'config' in error &&
  typeof error.config === 'object' &&
  error.config !== null &&
  'url' in error.config &&
  String(error.config.url).endsWith(':signBlob');

/** The body of a download's 404 is text; that of other requests is JSON. Both name the object. */
export const isMissingObject = ({ status, body }: Pick<GcsAnswer, 'status' | 'body'>): boolean =>
  status === 404 && Buffer.from(body).toString().includes('No such object');

const credentialsHint =
  'Give the host a service account, set GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login.';

function sentenceOf(status: number, reason: string, text: string, location: GcsLocation): Sentence {
  const { bucket } = location;
  if (status === 404)
    return {
      message: `There is no bucket ${bucket}.`,
      hint: 'Create it with ropewalk setup gcp --bucket, or correct ROPEWALK_OBJECTS.',
    };
  if (status === 401)
    return { message: `Google does not accept the credentials for the bucket ${bucket}.`, hint: credentialsHint };
  if (status === 403 && reason === 'retentionPolicyNotMet')
    return {
      message: `The retention policy of the bucket ${bucket} keeps objects from being replaced or deleted.`,
      hint: 'Use a bucket without a retention policy: Ropewalk replaces and deletes its objects.',
    };
  if (status === 403 && /billing/i.test(`${reason} ${text}`))
    return {
      message: `The bucket ${bucket} takes nothing: the billing account of its project is closed or missing.`,
      hint: 'Open the billing account of the project.',
    };
  if (status === 403)
    return {
      message: `The credentials have no right to this request in the bucket ${bucket}.`,
      hint: 'They need the permissions of ops/gcp/object-store.json on the bucket: storage.objects.create, delete, get and list.',
    };
  const busy = busyWith(status);
  if (busy !== null)
    return {
      message: `The object store does not answer: ${hostOf(location)} ${busy}.`,
      hint: 'Requests are repeated. If it goes on, see the status page of Google Cloud.',
    };
  return {
    message: `The object store refused a request: ${reason === '' ? 'unknown reason' : reason} (HTTP ${status}).`,
    hint: `Check the bucket ${bucket}. Google says: ${text === '' ? 'nothing' : text.slice(0, 300)}`,
  };
}

/** Null for other statuses. */
function busyWith(status: number): string | null {
  if (status === 429) return 'asks for fewer requests';
  return status >= 500 ? `has an internal error (HTTP ${status})` : null;
}

function refusalIn(body: Uint8Array): { reason: string; message: string } {
  const text = Buffer.from(body).toString();
  try {
    const value: { error?: { message?: unknown; errors?: { reason?: unknown }[] } } = JSON.parse(text);
    const { reason } = value.error?.errors?.[0] ?? {};
    const { message } = value.error ?? {};
    return { reason: typeof reason === 'string' ? reason : '', message: typeof message === 'string' ? message : '' };
  } catch {
    return { reason: '', message: text.slice(0, 300) };
  }
}

const broken: Record<string, string> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'has no address',
  EAI_AGAIN: 'has no address',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'did not answer in time',
  ETIMEDOUT: 'did not answer in time',
  TimeoutError: 'did not answer in time',
};

/** fetch puts the reason into the cause of its TypeError; several failed addresses are one AggregateError. */
function lookUp(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  const [first] = error instanceof AggregateError ? error.errors : [];
  return broken[code] ?? broken[error.name] ?? lookUp(first) ?? lookUp(error.cause);
}

/** Google's token endpoint answered with an error: the credentials are revoked, expired, or of a deleted account. */
const isTokenError = (error: Error): boolean =>
  'status' in error && typeof error.status === 'number' && error.status >= 400 && error.status < 500;

const unavailable = (sentence: Sentence, cause?: unknown) =>
  new RopewalkError({ code: 'UNAVAILABLE', ...sentence }, cause === undefined ? {} : { cause });
