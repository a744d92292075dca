// The closed set of error codes, with HTTP status and whether a retry can help. Every answer to a user or a program uses one of them; docs/errors.md
// has a section for each.

export const errorCodes = {
  VALIDATION: { status: 422, retryable: false },
  UNAUTHENTICATED: { status: 401, retryable: false },
  FORBIDDEN: { status: 403, retryable: false },
  NOT_FOUND: { status: 404, retryable: false },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false },
  CONFLICT: { status: 409, retryable: false },
  NAME_TAKEN: { status: 409, retryable: false },
  IDEMPOTENCY_MISMATCH: { status: 409, retryable: false },
  LIMIT_EXCEEDED: { status: 429, retryable: true },
  BUDGET_EXCEEDED: { status: 402, retryable: false },
  APPROVAL_REQUIRED: { status: 403, retryable: false },
  /** The user has not decided yet; ask again. */
  AUTHORIZATION_PENDING: { status: 428, retryable: true },
  EXPIRED: { status: 410, retryable: false },
  TOO_LARGE: { status: 413, retryable: false },
  TOO_BUSY: { status: 429, retryable: true },
  UNAVAILABLE: { status: 503, retryable: true },
  NOT_YET: { status: 503, retryable: true },
  TIMEOUT: { status: 504, retryable: true },
  INTERNAL: { status: 500, retryable: false },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** A problem as plain data: it passes through workflow answers, HTTP bodies and the SDK unchanged. */
export interface Problem {
  code: ErrorCode;
  /** What happened and why, in one sentence. */
  message: string;
  /** The invalid input field, as a dotted path, if there is one. */
  field?: string;
  /** What to do about it. */
  hint?: string;
}

/** Thrown by services; the API's error handler converts it to an error response. */
export class RopewalkError extends Error {
  readonly problem: Problem;
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(problem.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RopewalkError';
    this.problem = problem;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** For the default branch of a switch over a union: the compiler proves that it is unreachable. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
