// The port to Temporal over its client. Every call has a deadline, because the client by default waits forever.
import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  QueryRejectedError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';

import type { WorkflowStart } from '../contracts/start.ts';
import { RopewalkError } from '../domain/errors.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/**
 * The client must be created with `queryRejectCondition: 'NOT_OPEN'`, see temporalClientOptions. `confirmNamespace` rejects while the
 * namespace is not known to be the deployment's.
 */
export function createTemporalPort(client: Client, confirmNamespace: () => Promise<void>): WorkflowsPort {
  const handle = <R>(workflowId: string) => client.workflow.getHandle<() => Promise<R>>(workflowId);
  /** Deadlines use `performance.now()`, because a step of the wall clock must not make a call hang. */
  const within = async <T>(deadlineAtMs: number, call: () => Promise<T>): Promise<T> => {
    await confirmNamespace().catch((error: unknown) => {
      throw unavailable(error);
    });
    return client.withDeadline(Date.now() + deadlineAtMs - performance.now(), call);
  };

  /** The admission that started this workflow. */
  const admissionOf = async (workflowId: string): Promise<string | null> => {
    const { memo } = await within(performance.now() + readDeadlineMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    const admissionId = memo?.['admissionId'];
    return typeof admissionId === 'string' ? admissionId : null;
  };

  return {
    async start({ type, workflowId, input, options }: WorkflowStart) {
      try {
        const begin = () => client.workflow.start(type, { ...options, workflowId, args: [input] });
        await within(performance.now() + readDeadlineMs, begin);
        return { kind: 'started' } as const;
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw refusedStart(workflowId, error);
      }
      try {
        return { kind: 'exists', admissionId: await admissionOf(workflowId) } as const;
      } catch (error) {
        // Its retention may have ended meanwhile.
        throw unavailable(error);
      }
    },

    async update<I, O>(
      workflowId: string,
      name: string,
      input: I,
      options: { updateId: string; deadlineAtMs: number },
    ) {
      try {
        const value = await within(options.deadlineAtMs, () =>
          handle(workflowId).executeUpdate<O, [I]>(name, { args: [input], updateId: options.updateId }),
        );
        return { kind: 'done', value } as const;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return notFoundOutcome(error);
        if (error instanceof WorkflowUpdateFailedError) throw internal(workflowId, error);
        if (isTaskFailure(error)) return { kind: 'aborted' } as const;
        throw unavailable(error);
      }
    },

    async query<O, I>(workflowId: string, name: string, input?: I) {
      const deadlineAtMs = performance.now() + readDeadlineMs;
      const ask = (): Promise<O> =>
        input === undefined ? handle(workflowId).query<O>(name) : handle(workflowId).query<O, [I]>(name, input);
      for (;;) {
        try {
          return { kind: 'value', value: await within(deadlineAtMs, ask) } as const;
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return { kind: 'missing' } as const;
          if (!(error instanceof QueryRejectedError)) throw unavailable(error);
          if (error.status !== continuedAsNew) return { kind: 'closed' } as const;
          // The workflow continues in a new run; only the request was too slow.
          if (performance.now() >= deadlineAtMs) throw unavailable(error);
        }
      }
    },

    async signal<I>(workflowId: string, name: string, input: I) {
      try {
        await within(performance.now() + readDeadlineMs, () => handle(workflowId).signal<[I]>(name, input));
        return { kind: 'sent' } as const;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw unavailable(error);
        return alreadyCompleted.test(error.message) ? ({ kind: 'closed' } as const) : ({ kind: 'missing' } as const);
      }
    },

    async result<O>(workflowId: string) {
      try {
        const value = await within(performance.now() + readDeadlineMs, () => handle<O>(workflowId).result());
        return { kind: 'value', value } as const;
      } catch (error) {
        if (error instanceof WorkflowFailedError) return { kind: 'failed', text: endingOf(error) } as const;
        if (error instanceof WorkflowNotFoundError) return { kind: 'missing' } as const;
        throw unavailable(error);
      }
    },

    async isReachable() {
      try {
        await within(performance.now() + readinessDeadlineMs, () => client.workflowService.getSystemInfo({}));
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** Closed workflows are read from their result and the archive, because a query would replay their whole history. */
export const temporalClientOptions = { workflow: { queryRejectCondition: 'NOT_OPEN' } } as const;

const readDeadlineMs = 4_000;
const readinessDeadlineMs = 2_000;
const retryAfterMs = 1_000;

/** The server distinguishes these cases by text alone (facts: server 1.32). */
const abortedByClosing = /aborted by closing workflow/i;
const alreadyCompleted = /already completed/i;

/** The workflow task that should accept the update failed, usually because the run was about to continue as new. */
const isTaskFailure = (error: unknown): boolean =>
  error instanceof ServiceError &&
  isGrpcServiceError(error.cause) &&
  /unexpected workflow task failure/i.test(error.cause.message);

/** WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW */
const continuedAsNew = 6;

function notFoundOutcome(error: WorkflowNotFoundError) {
  if (abortedByClosing.test(error.message)) return { kind: 'aborted' } as const;
  return alreadyCompleted.test(error.message) ? ({ kind: 'closed' } as const) : ({ kind: 'missing' } as const);
}

function endingOf(error: WorkflowFailedError): string {
  return error.cause === undefined ? error.message : `${error.message}: ${error.cause.message}`;
}

/** All other errors of the client mean that no answer arrived in time. Our own mistakes pass through unchanged. */
function unavailable(error: unknown): unknown {
  const known = [ServiceError, WorkflowUpdateRPCTimeoutOrCancelledError, QueryNotRegisteredError, QueryRejectedError];
  if (!known.some((kind) => error instanceof kind) && !isGrpcServiceError(error)) return error;
  return new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: 'The control plane did not answer in time.',
      hint: 'Try again after the time given in Retry-After. If it stays so, check that Temporal and a Temporal worker run.',
    },
    { cause: error, retryAfterMs },
  );
}

/** gRPC: INVALID_ARGUMENT, NOT_FOUND (the namespace), PERMISSION_DENIED, FAILED_PRECONDITION, UNIMPLEMENTED, UNAUTHENTICATED. */
const refusals = new Set([3, 5, 7, 9, 12, 16]);

/** A refusal by the server is no outage, so it must not delay other starts. */
function refusedStart(workflowId: string, error: unknown): unknown {
  const cause = error instanceof ServiceError ? error.cause : error;
  if (!isGrpcServiceError(cause) || !refusals.has(cause.code)) return unavailable(error);
  return new RopewalkError({ code: 'INTERNAL', message: `Temporal refused to start ${workflowId}.` }, { cause: error });
}

/** Our handlers never throw because of an item, so a failed update is our own mistake. */
const internal = (workflowId: string, cause: unknown) =>
  new RopewalkError({ code: 'INTERNAL', message: `An update of ${workflowId} failed.` }, { cause });
