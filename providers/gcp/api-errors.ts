// Reads the errors of Google's client. Its error has the HTTP status, and the answer's body behind a global symbol; errors of
// its HTTP library, which are also thrown, have the body as their message.
import { classify } from './errors.ts';
import { GoogleRefusal } from './refusal.ts';

export interface ApiError {
  /** `reason` of the first error, e.g. `quotaExceeded`; else the HTTP status as text. */
  code: string;
  message: string;
  status: number;
}

/** Null when Google did not answer: the connection failed, and the outcome is unknown. */
export function answerOf(error: unknown): ApiError | null {
  if (error instanceof GoogleRefusal) return { code: error.reason, message: error.message, status: error.status };
  if (!(error instanceof Error)) return null;
  const status = statusOf(error);
  if (status === null) return null;
  const body = bodyOf(error);
  return { code: body?.reason ?? String(status), message: body?.message ?? error.message.slice(0, 500), status };
}

export const isNotFound = (error: unknown): boolean => answerOf(error)?.status === 404;

export const messageOf = (error: unknown): string =>
  answerOf(error)?.message ?? (error instanceof Error ? error.message : String(error));

/** True when the error does not exclude that something was launched. */
export function mayHaveLaunched(error: unknown): boolean {
  const answer = answerOf(error);
  if (answer === null) return true;
  const { scope, known } = classify(answer.code, answer.message);
  return known ? scope === 'cloud' || scope === 'throttle' : answer.status >= 500;
}

/** `code` of Google's own error is a gRPC status, 0 to 16, not an HTTP status. */
function statusOf(error: Error): number | null {
  const candidates = [
    'httpStatusCode' in error ? error.httpStatusCode : null,
    'status' in error ? error.status : null,
    'code' in error ? error.code : null,
  ];
  return candidates.map(Number).find((value) => value >= 100 && value < 600) ?? null;
}

const rawBody = Symbol.for('google-gax.rawHttpResponsePayload');

function bodyOf(error: Error): { reason: string | undefined; message: string } | null {
  const raw = rawBody in error && typeof error[rawBody] === 'string' ? error[rawBody] : error.message;
  const at = raw.indexOf('{');
  if (at === -1) return null;
  try {
    const value: { error?: { message?: unknown; errors?: { reason?: unknown }[] } } = JSON.parse(raw.slice(at));
    const { reason } = value.error?.errors?.[0] ?? {};
    if (typeof value.error?.message !== 'string') return null;
    return { reason: typeof reason === 'string' ? reason : undefined, message: value.error.message };
  } catch {
    return null;
  }
}
