// The error response for every failure. A caller's mistake names the field; an internal error reveals nothing and is logged under the request's id.
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { z } from 'zod';

import { errorCodes, RopewalkError, type Problem } from '../../domain/errors.ts';
import { errorHeader } from '../../schema/agent.ts';
import type { ErrorBody, ErrorLine } from '../../schema/common.ts';
import type { AppEnv } from '../routes/app.ts';
import { describeBound } from './bounds.ts';
import { hasLeft } from './incoming.ts';
import { logFields } from './log-fields.ts';

/** nginx's number for it, in logs and metrics: no client receives this answer, so it has no error code. */
const clientClosed = 499;

export function answerError(error: unknown, c: Context<AppEnv>): Response {
  const { problem, retryAfterMs } = understand(error);
  const { status, retryable } = errorCodes[problem.code];
  const isOfClient = status < 500 || problem === internal;
  if (isOfClient && hasLeft(c)) {
    c.var.deps.logger.debug({ ...logFields(c), err: error }, 'the client closed its connection');
    return new Response(null, { status: clientClosed });
  }
  if (status >= 500) {
    const log = { ...logFields(c), code: problem.code };
    if (problem.code === 'NOT_YET') c.var.deps.logger.debug(log, problem.message);
    else if (problem.code === 'INTERNAL') c.var.deps.logger.error({ ...log, err: error }, 'a request failed');
    else c.var.deps.logger.warn({ ...log, why: causesOf(error) }, 'a request could not be carried out now');
  }
  if (status === 401) c.header('WWW-Authenticate', 'Bearer');
  if (retryable) c.header('Retry-After', String(Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1_000))));
  // Agents treat an error without it as a proxy's.
  c.header(errorHeader, problem.code);
  return c.json(bodyOf(problem, c), status);
}

/** For a started response in lines, whose status has already been sent. */
export function errorLineOf(error: unknown, c: Context<AppEnv>): ErrorLine {
  const { problem } = understand(error);
  return { ...bodyOf(problem, c), status: errorCodes[problem.code].status };
}

const bodyOf = ({ code, message, field, hint }: Problem, c: Context<AppEnv>): ErrorBody => ({
  error: {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(hint === undefined ? {} : { hint }),
    requestId: c.var.requestId,
  },
});

/** Converts zod's issues to one problem that names the first field and the number of further ones. */
export function validationProblem(error: z.ZodError): RopewalkError {
  const [first, ...more] = error.issues;
  const unknownKeys = first?.code === 'unrecognized_keys' ? first.keys : [];
  const field = [...(first?.path ?? []), ...unknownKeys.slice(0, 1)].map(String).join('.');
  const bound = first === undefined ? null : describeBound(first);
  const other = unknownKeys.length > 0 ? 'is not a field that is known here' : (first?.message ?? 'is not valid');
  const what = bound === null ? `: ${other}` : ` ${bound}`;
  const others = more.length === 0 ? '' : ` ${countOf(more.length)}.`;
  return new RopewalkError({
    code: 'VALIDATION',
    message: `${field === '' ? 'The request' : field}${what}.${others}`,
    ...(field === '' ? {} : { field }),
    hint: 'GET /v1/openapi.json describes every field.',
  });
}

const countOf = (more: number): string => (more === 1 ? 'There is 1 more problem' : `There are ${more} more problems`);

function understand(error: unknown): { problem: Problem; retryAfterMs?: number | undefined } {
  if (error instanceof RopewalkError) {
    return error.problem.code === 'INTERNAL' ? { problem: internal } : error;
  }
  if (error instanceof HTTPException && error.status === 400) {
    return {
      problem: { code: 'VALIDATION', message: 'The request body is not valid JSON.', hint: 'Send one JSON object.' },
    };
  }
  if (error instanceof HTTPException && error.status === 415) return { problem: notJson };
  return { problem: internal };
}

/** An outage repeats the same error many times, so messages suffice, without stacks. */
function causesOf(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...causesOf(error.cause)] : [];
}

const notJson: Problem = {
  code: 'UNSUPPORTED_MEDIA_TYPE',
  message: 'The body of this request is not said to be JSON.',
  hint: 'Send it with `Content-Type: application/json`.',
};

const internal: Problem = {
  code: 'INTERNAL',
  message: 'Something went wrong on our side.',
  hint: 'The operator finds it in the API log under the request id.',
};
