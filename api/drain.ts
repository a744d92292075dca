// An orderly end: no new connections, open requests are finished, and whoever still hangs on after a while is cut off.
import type { ServerType } from '@hono/node-server';

export function createDrain(options: {
  server: ServerType;
  maxMs: number;
  onDraining: () => void;
  onDrained: () => Promise<void>;
}): () => Promise<void> {
  const { server } = options;
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    options.onDraining();
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    const cut = setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
    }, options.maxMs);
    await closed;
    clearTimeout(cut);
    await options.onDrained();
  };
}
