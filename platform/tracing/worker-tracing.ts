// Tracing of a Temporal worker, by Temporal's own interceptors: activities here, workflows by the interceptors that their
// bundle then has. Loaded only when tracing is on.
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
  type OpenTelemetrySinks,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';

import { startTracing } from './tracing.ts';

export interface WorkerTracing {
  activity: ActivityInterceptorsFactory;
  sinks: InjectedSinks<OpenTelemetrySinks>;
  close: () => Promise<void>;
}

export function startWorkerTracing(): WorkerTracing {
  const tracing = startTracing('worker');
  return {
    activity: (context) => ({
      inbound: new OpenTelemetryActivityInboundInterceptor(context),
      outbound: new OpenTelemetryActivityOutboundInterceptor(context),
    }),
    sinks: { exporter: makeWorkflowExporter(tracing.spanProcessor, tracing.resource) },
    close: tracing.close,
  };
}
