// Tracing of the API: a span for each request and, by Temporal's own interceptor, for each call to a workflow. Loaded only
// when tracing is on.
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry';

import { startTracing } from './tracing.ts';

export function startClientTracing() {
  const { request, close } = startTracing('api');
  return { request, close, workflow: [new OpenTelemetryWorkflowClientInterceptor()] };
}
