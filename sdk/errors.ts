// Errors of requests to the API: one class per family of HTTP status, and one for requests without an answer.
// No error contains the token.
import type { ErrorBody } from '../schema/common.ts';

export interface ApiErrorDetails {
  /** The API's error code, e.g. `NAME_TAKEN`; `HTTP_502` and similar when a proxy answered instead of the API. */
  code: string;
  /** HTTP status, or null without an answer. */
  status: number | null;
  /** Dotted path of the invalid input field. */
  field?: string | undefined;
  /** The remedy. */
  hint?: string | undefined;
  docs?: string | undefined;
  /** Identifies the request in the server's log. */
  requestId?: string | undefined;
  /** The server's `Retry-After`, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/** The address of the API or the token is missing or malformed; nothing was sent. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Base class of the errors of requests to the API. */
export class RopewalkApiError extends Error {
  override readonly name: string = 'RopewalkApiError';
  readonly code: string;
  readonly status: number | null;
  readonly field: string | undefined;
  readonly hint: string | undefined;
  readonly docs: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ApiErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.code = details.code;
    this.status = details.status;
    this.field = details.field;
    this.hint = details.hint;
    this.docs = details.docs;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** 401: the token is missing, unknown, expired or revoked. */
export class AuthenticationError extends RopewalkApiError {
  override readonly name = 'AuthenticationError';
}
/** 403: the token's scopes do not allow this. */
export class PermissionError extends RopewalkApiError {
  override readonly name = 'PermissionError';
}
/** 404: the token's workspace has no such object. */
export class NotFoundError extends RopewalkApiError {
  override readonly name = 'NotFoundError';
}
/** 409, 410, 428: a name is taken, or the object's state does not allow the request yet or any longer. */
export class ConflictError extends RopewalkApiError {
  override readonly name = 'ConflictError';
}
/** 400, 413, 422 and other 4xx: the request is invalid; `field` names the place. */
export class ValidationError extends RopewalkApiError {
  override readonly name = 'ValidationError';
}
/** 429: a limit is reached, or the service is busy. */
export class RateLimitError extends RopewalkApiError {
  override readonly name = 'RateLimitError';
}
/** 5xx, or an answer that is not valid. */
export class ServerError extends RopewalkApiError {
  override readonly name = 'ServerError';
}
/** No answer: connection refused, timed out, host not found, or connection lost during the answer. */
export class ConnectionError extends RopewalkApiError {
  override readonly name = 'ConnectionError';
}

/** The error for a response that is not ok. `text` is its body. */
export function errorFromResponse(response: Response, text: string): RopewalkApiError {
  const body = errorBodyOf(text);
  const status = response.status;
  const requestId = body?.requestId ?? response.headers.get('x-request-id') ?? undefined;
  const retryAfterMs = retryAfter(response.headers);
  const message =
    body?.message ?? `the server answered ${status} without an error message: it may not be a Ropewalk API`;
  const Family = familyOf(status);
  return new Family(message, {
    code: body?.code ?? `HTTP_${status}`,
    status,
    field: body?.field,
    hint: body?.hint,
    docs: body?.docs,
    requestId,
    retryAfterMs,
  });
}

/** The error in the last line of an incomplete answer; null for any other line. */
export function errorFromLine(line: unknown): RopewalkApiError | null {
  if (typeof line !== 'object' || line === null || !('error' in line && 'status' in line)) return null;
  const status = Number(line.status);
  return errorFromResponse(
    new Response(null, { status: status >= 400 && status <= 599 ? status : 500 }),
    JSON.stringify(line),
  );
}

/** True when a repetition can succeed: there was no answer, or the service is unavailable or busy. */
export function isOutage(error: unknown): error is RopewalkApiError {
  if (error instanceof ServerError) return error.status !== null;
  return error instanceof ConnectionError || error instanceof RateLimitError;
}

/** `Retry-After` in milliseconds, from seconds or a date. */
export function retryAfter(headers: Headers, nowMs = Date.now()): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

function familyOf(status: number): typeof RopewalkApiError {
  return families.get(status) ?? (status >= 400 && status < 500 ? ValidationError : ServerError);
}

const families = new Map<number, typeof RopewalkApiError>([
  [401, AuthenticationError],
  [403, PermissionError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, ConflictError],
  [428, ConflictError],
  [429, RateLimitError],
]);

function errorBodyOf(text: string): Partial<ErrorBody['error']> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return null;
    const { error } = parsed;
    if (typeof error !== 'object' || error === null) return null;
    return Object.fromEntries(Object.entries(error).filter(([, value]) => typeof value === 'string'));
  } catch {
    return null;
  }
}
