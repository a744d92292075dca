// Spans, sent by OTLP over HTTP. Loaded only when tracing is on: everything here is heavy. A trace begins with a request
// of a person; what agents ask thousands of times an hour begins none.
import {
  context,
  isSpanContextValid,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  SamplingDecision,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';

import { createAsyncContext } from './async-context.ts';
import type { RequestSpan, RequestTracer } from './request-span.ts';

export interface Tracing {
  request: RequestTracer;
  /** Sends what is left. */
  close: () => Promise<void>;
}

/** The collector's address and headers are read from OpenTelemetry's own OTEL_EXPORTER_OTLP_* variables. */
export function startTracing(program: 'api' | 'worker'): Tracing {
  const resource = new Resource({ 'service.name': `ropewalk-${program}`, 'service.namespace': 'ropewalk' });
  const spanProcessor = new BatchSpanProcessor(new OTLPTraceExporter());
  const sampler = new ParentBasedSampler({ root: requestsOnly });
  const provider = new BasicTracerProvider({ resource, sampler, spanProcessors: [spanProcessor] });
  provider.register({ contextManager: createAsyncContext() });
  const tracer = trace.getTracer('ropewalk');

  return {
    request: async ({ name, attributes, headers }: RequestSpan, run) => {
      const given = propagation.extract(context.active(), headers);
      const sent = trace.getSpanContext(given);
      // A caller's own trace is continued; whether it is sampled is the caller's word.
      const parent = sent !== undefined && isSpanContextValid(sent) ? given : context.active();
      await tracer.startActiveSpan(name, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
        try {
          const { status, about } = await run();
          span.setAttributes({ ...definedOnly(about), 'http.response.status_code': status });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        } finally {
          span.end();
        }
      });
    },
    close: () => provider.shutdown(),
  };
}

const requestsOnly: Sampler = {
  shouldSample: (_context, _traceId, _name, kind) => ({
    decision: kind === SpanKind.SERVER ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
  }),
  toString: () => 'RequestsOnly',
};

const definedOnly = (about: Readonly<Record<string, string | number | undefined>>): Attributes =>
  Object.fromEntries(
    Object.entries(about).flatMap(([name, value]) => (value === undefined ? [] : [[`ropewalk.${name}`, value]])),
  );
