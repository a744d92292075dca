// Setup's calls to Google's APIs: JSON over HTTP with the caller's credentials. Every create call names its resource, so a
// request whose answer was lost may be repeated.
import { setTimeout as sleep } from 'node:timers/promises';

import { GoogleAuth } from 'google-auth-library';

import { RopewalkError } from '../../../domain/errors.ts';
import type { Environment } from '../../manifest.ts';
import { GoogleRefusal } from '../refusal.ts';

export type Service = 'compute' | 'iam' | 'cloudresourcemanager' | 'serviceusage' | 'storage';

export interface Calls {
  /** Returns the answer's body. @throws GoogleRefusal */
  send<T>(service: Service, method: string, path: string, body?: object): Promise<T>;
  /** The pause between two attempts grows each time. */
  pause: (attempt: number) => Promise<void>;
  signal: AbortSignal;
}

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
const attemptTimeoutMs = 60_000;
const maxAttempts = 5;
const firstPauseMs = 50;
const maxPauseMs = 5_000;
/** Five minutes: a new grant or API may take that long to work everywhere. */
const maxSettling = 66;

export function createCalls(env: Environment, projectId: string, signal: AbortSignal): Calls {
  // Without a project, the library would run gcloud to find one.
  const auth = new GoogleAuth({ scopes, projectId });
  const pause = async (attempt: number): Promise<void> => {
    await sleep(Math.min(firstPauseMs * 2 ** (attempt - 1), maxPauseMs), undefined, { signal });
  };
  const originOf = (service: Service): string => {
    const other = env[`CLOUDSDK_API_ENDPOINT_OVERRIDES_${service.toUpperCase()}`];
    return other === undefined ? `https://${service}.googleapis.com` : new URL(other).origin;
  };
  return {
    pause,
    signal,
    async send<T>(service: Service, method: string, path: string, body?: object): Promise<T> {
      const authorization = await authorize(auth);
      for (let attempt = 1; ; attempt += 1) {
        signal.throwIfAborted();
        try {
          return JSON.parse(await request(`${originOf(service)}${path}`, method, authorization, body, signal));
        } catch (error) {
          if (!(error instanceof Error) || !isPassing(error) || attempt === maxAttempts) throw error;
        }
        await pause(attempt);
      }
    },
  };
}

async function request(
  url: string,
  method: string,
  authorization: Headers,
  body: object | undefined,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(url, {
    method,
    headers: { ...Object.fromEntries(authorization), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(attemptTimeoutMs)]),
  });
  const text = await response.text();
  if (response.ok) return text === '' ? '{}' : text;
  throw refusalOf(response.status, text);
}

function refusalOf(status: number, text: string): GoogleRefusal {
  try {
    const { error }: ErrorBody = JSON.parse(text);
    const detail = error.details?.find(({ reason }) => reason !== undefined)?.reason;
    return new GoogleRefusal(status, detail ?? error.errors?.[0]?.reason ?? error.status ?? '', error.message ?? '');
  } catch {
    return new GoogleRefusal(status, '', text.slice(0, 300));
  }
}

interface ErrorBody {
  error: {
    message?: string;
    status?: string;
    errors?: { reason?: string }[];
    details?: { reason?: string }[];
  };
}

/** Throttled, or Google or the network had a fault. */
const isPassing = (error: Error): boolean =>
  error instanceof GoogleRefusal
    ? error.status === 429 || error.status >= 500 || /^(rateLimitExceeded|RATE_LIMIT_EXCEEDED)$/.test(error.reason)
    : error.name === 'TimeoutError' || error instanceof TypeError;

/** With the quota project of personal credentials: some APIs refuse them without one. */
async function authorize(auth: GoogleAuth): Promise<Headers> {
  try {
    return await auth.getRequestHeaders();
  } catch (cause) {
    throw credentialsProblem(cause);
  }
}

/** The key of a service account, whose refusals mention a JWT or the account, does not expire as a person's login does. */
export function credentialsProblem(cause: unknown): RopewalkError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const hasExpired = /invalid_grant|invalid_rapt/.test(said) && !/JWT|account/i.test(said);
  const message = hasExpired
    ? 'Your credentials for Google Cloud have expired or were revoked.'
    : `There are no credentials for Google Cloud: ${said}`;
  const hint = hasExpired
    ? 'Run gcloud auth application-default login, then the same command again.'
    : 'Run gcloud auth application-default login; in Cloud Shell they are there.';
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
}

export const isRefusal = (error: unknown, ...reasons: string[]): boolean =>
  error instanceof GoogleRefusal && reasons.includes(error.reason);
export const isMissing = (error: unknown): boolean => error instanceof GoogleRefusal && error.status === 404;
export const isThere = (error: unknown): boolean =>
  error instanceof GoogleRefusal &&
  error.status === 409 &&
  /^(alreadyExists|ALREADY_EXISTS|conflict)$/.test(error.reason);
export const isDisabled = (error: unknown): boolean => isRefusal(error, 'SERVICE_DISABLED', 'accessNotConfigured');

/** Of a refused call, and of an operation that failed after its call was accepted, as the deletion of a network does. */
const isInUse = (error: unknown): boolean =>
  isRefusal(error, 'resourceInUseByAnotherResource', 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE');

/** null when it does not exist. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Retries a call until its prerequisite, such as a new API or account, is visible everywhere. `onInUse` gets Google's reason
 * once, when something uses the resource.
 */
export async function settled<T>(
  { pause }: Calls,
  call: () => Promise<T>,
  onInUse: (reason: string) => void = () => {},
): Promise<T> {
  let isReported = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const isNotYet =
        isDisabled(error) ||
        isMissing(error) ||
        isRefusal(error, 'resourceNotReady', 'RESOURCE_NOT_READY') ||
        isInUse(error) ||
        (error instanceof GoogleRefusal && error.status === 400 && /does not exist/.test(error.message));
      if (!isNotYet || attempt === maxSettling) throw error;
      if (isInUse(error) && !isReported) {
        isReported = true;
        onInUse(error instanceof Error ? error.message : String(error));
      }
    }
    await pause(attempt);
  }
}

/** Describes the failed step, Google's message, and a remedy. */
export function explained(what: string, error: unknown): RopewalkError {
  if (error instanceof RopewalkError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const message =
    error instanceof GoogleRefusal
      ? `${what}: Google answered ${error.reason === '' ? error.status : error.reason}: ${said}`
      : `${what}: Google did not answer: ${said}`;
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint: hintOf(error) }, { cause: error });
}

function hintOf(error: unknown): string {
  if (isDisabled(error)) return 'Run gcloud services enable serviceusage.googleapis.com, then the same command again.';
  if (/billing/i.test(error instanceof GoogleRefusal ? error.message : ''))
    return 'Link the project to a billing account.';
  if (error instanceof GoogleRefusal && (error.status === 403 || error.status === 401))
    return 'Use an owner of the project, or credentials with the permissions of ops/gcp/set-up.json.';
  if (isRefusal(error, 'FAILED_PRECONDITION') && /deleted state/.test(error instanceof Error ? error.message : ''))
    return 'Google keeps the id of a role for 37 days after its deletion, and restores it for 7 of them: choose other names with --name.';
  if (isInUse(error))
    return 'Something still uses it: end clusters first, or run ropewalk destroy --by-tag, then run this command again.';
  return 'Run the same command again: it continues with what is missing.';
}
