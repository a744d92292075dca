// Spans, sent by OTLP over HTTP. Loaded only when tracing is on, because it is large. A trace starts with a user's request;
// agents' requests, thousands per hour, start none.
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
  /** Sends the remaining spans. */
  close: () => Promise<void>;
}

/** OpenTelemetry's own OTEL_EXPORTER_OTLP_* variables have the collector's address and headers. */
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
      // Continues a caller's own trace; the caller decides whether it is sampled.
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
