// Interceptors of the workflows for tracing; part of their bundle only when tracing is on. They add headers to what is
// started and never a command, so that a workflow replays the same with and without them (test/replay).
//
// The official interceptors cannot know one thing: a workspace starts its jobs and clusters from its loop, not from the
// update that admitted them. So the update's trace is kept by admission and given to the child, which carries the
// admission in its memo. What is admitted in one flush is in one trace, that of the flush's first request.
import type {
  Next,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';

export function interceptors(): WorkflowInterceptors {
  const admitted = createAdmitted();
  return {
    inbound: [new OpenTelemetryInboundInterceptor(), admitted.inbound],
    outbound: [new OpenTelemetryOutboundInterceptor(), admitted.outbound],
    internals: [new OpenTelemetryInternalsInterceptor()],
  };
}

const traceHeader = '_tracer-data';
const maxKept = 1_000;

type UpdateNext = Next<WorkflowInboundCallsInterceptor, 'handleUpdate'>;
type ChildNext = Next<WorkflowOutboundCallsInterceptor, 'startChildWorkflowExecution'>;
type UpdateInput = Parameters<UpdateNext>[0];
type ChildInput = Parameters<ChildNext>[0];

function createAdmitted() {
  const traces = new Map<string, UpdateInput['headers'][string]>();
  return {
    inbound: {
      handleUpdate: (input: UpdateInput, next: UpdateNext) => {
        const trace = input.headers[traceHeader];
        for (const id of trace === undefined ? [] : admissionsOf(input.args[0])) {
          if (trace !== undefined) traces.set(id, trace);
          const [oldest] = traces.keys();
          if (traces.size > maxKept && oldest !== undefined) traces.delete(oldest);
        }
        return next(input);
      },
    },
    outbound: {
      startChildWorkflowExecution: (input: ChildInput, next: ChildNext) => {
        const admission = input.options.memo?.['admissionId'];
        const trace = typeof admission === 'string' ? traces.get(admission) : undefined;
        return next(trace === undefined ? input : { ...input, headers: { ...input.headers, [traceHeader]: trace } });
      },
    },
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
