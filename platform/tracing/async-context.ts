// The current span across awaits and timers: OpenTelemetry's context manager, on Node's own storage.
import { AsyncLocalStorage } from 'node:async_hooks';

import { ROOT_CONTEXT, type Context, type ContextManager } from '@opentelemetry/api';

export function createAsyncContext(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (context, run, self, ...given) => storage.run(context, () => run.apply(self, given)),
    // Our code never binds functions, so they are returned unchanged.
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => {
      storage.disable();
      return manager;
    },
  };
  return manager;
}
