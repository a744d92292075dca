// An orderly end: no new connections, open requests are completed, and connections still open after a timeout are closed.
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
    // A kept-alive connection becomes idle after its last response, at any time from now.
    const closeIdle = () => 'closeIdleConnections' in server && server.closeIdleConnections();
    const idle = setInterval(closeIdle, 100);
    const cut = setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
    }, options.maxMs);
    await closed;
    clearInterval(idle);
    clearTimeout(cut);
    await options.onDrained();
  };
}
