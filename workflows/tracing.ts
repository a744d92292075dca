// Workflow interceptors for tracing; part of the bundle only while tracing is on. They pass the trace of a workflow's starter to the workflows that
// it starts, and do nothing else: they add a header, never a command, a promise or a yield. A workflow therefore replays the same with and without
// them (test/replay/tracing.test.ts). Temporal's own workflow interceptors do yield: with them, workflows that were started before tracing was turned
// on would no longer replay.
//
// A workspace starts its jobs and clusters from its loop, not from the update that admitted them. The update's trace is therefore kept by admission
// and passed to the child, which carries the admission in its memo. All admissions of one flush share one trace, that of the flush's first request.
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

/** The header name of Temporal's own interceptors for clients and activities. */
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

/** The admission ids of a flush; empty for every other update. */
function admissionsOf(flush: unknown): string[] {
  if (typeof flush !== 'object' || flush === null || !('items' in flush) || !Array.isArray(flush.items)) return [];
  return flush.items.flatMap((item: unknown) =>
    typeof item === 'object' && item !== null && 'admissionId' in item && typeof item.admissionId === 'string'
      ? [item.admissionId]
      : [],
  );
}
