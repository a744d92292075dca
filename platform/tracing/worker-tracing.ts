// Tracing of a Temporal worker: activities by Temporal's own interceptors; workflows only propagate their trace
// (workflows/tracing.ts). Loaded only when tracing is on.
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

import { startTracing } from './tracing.ts';

export interface WorkerTracing {
  activity: ActivityInterceptorsFactory;
  close: () => Promise<void>;
}

export function startWorkerTracing(): WorkerTracing {
  const tracing = startTracing('worker');
  return {
    activity: (context) => ({
      inbound: new OpenTelemetryActivityInboundInterceptor(context),
      outbound: new OpenTelemetryActivityOutboundInterceptor(context),
    }),
    close: tracing.close,
  };
}
