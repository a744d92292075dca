// Interceptors of the workflows for tracing; part of their bundle only when tracing is on. They hand the trace of who
// started a workflow on to what it starts, and do nothing else: a header more, never a command, a promise or a yield, so
// that a workflow replays the same with and without them (test/replay/tracing.test.ts). Temporal's own interceptors for
// workflows do yield: with them, workflows that were started before tracing was turned on would no longer replay.
//
// A workspace starts its jobs and clusters from its loop, not from the update that admitted them. So the update's trace is
// kept by admission and given to the child, which carries the admission in its memo. What is admitted in one flush is in
// one trace, that of the flush's first request.
import type {
  Next,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';

type InboundNext<K extends keyof WorkflowInboundCallsInterceptor> = Next<WorkflowInboundCallsInterceptor, K>;
type OutboundNext<K extends keyof WorkflowOutboundCallsInterceptor> = Next<WorkflowOutboundCallsInterceptor, K>;
type Headers = Parameters<InboundNext<'execute'>>[0]['headers'];
type Trace = Headers[string] | undefined;

export function interceptors(): WorkflowInterceptors {
  const traces = createAdmitted();
  const run: { trace: Trace } = { trace: undefined };
  const carry = <I extends { headers: Headers }>(input: I, trace: Trace = run.trace): I =>
    trace === undefined ? input : { ...input, headers: { ...input.headers, [traceHeader]: trace } };

  const inbound: WorkflowInboundCallsInterceptor = {
    execute: (input, next) => {
      run.trace = input.headers[traceHeader];
      return next(input);
    },
    handleUpdate: (input, next) => {
      const trace = input.headers[traceHeader];
      if (trace !== undefined) traces.keep(input.args[0], trace);
      return next(input);
    },
  };
  const outbound: WorkflowOutboundCallsInterceptor = {
    scheduleActivity: (input, next: OutboundNext<'scheduleActivity'>) => next(carry(input)),
    scheduleLocalActivity: (input, next: OutboundNext<'scheduleLocalActivity'>) => next(carry(input)),
    signalWorkflow: (input, next: OutboundNext<'signalWorkflow'>) => next(carry(input)),
    continueAsNew: (input, next: OutboundNext<'continueAsNew'>) => next(carry(input)),
    startChildWorkflowExecution: (input, next: OutboundNext<'startChildWorkflowExecution'>) =>
      next(carry(input, traces.of(input.options.memo?.['admissionId']) ?? run.trace)),
  };
  return { inbound: [inbound], outbound: [outbound] };
}

/** As Temporal's own interceptors of clients and activities name it. */
const traceHeader = '_tracer-data';
const maxKept = 1_000;

function createAdmitted() {
  const traces = new Map<string, NonNullable<Trace>>();
  return {
    keep: (flush: unknown, trace: NonNullable<Trace>): void => {
      for (const id of admissionsOf(flush)) traces.set(id, trace);
      for (const id of traces.keys()) {
        if (traces.size <= maxKept) break;
        traces.delete(id);
      }
    },
    of: (admission: unknown): Trace => (typeof admission === 'string' ? traces.get(admission) : undefined),
  };
}

/** Of a flush of admissions; nothing for every other update. */
function admissionsOf(flush: unknown): string[] {
  if (typeof flush !== 'object' || flush === null || !('items' in flush) || !Array.isArray(flush.items)) return [];
  return flush.items.flatMap((item: unknown) =>
    typeof item === 'object' && item !== null && 'admissionId' in item && typeof item.admissionId === 'string'
      ? [item.admissionId]
      : [],
  );
}
