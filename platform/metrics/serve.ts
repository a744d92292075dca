// The endpoints for Prometheus and an orchestrator: `/metrics` and `/healthz`, on their own address, which is loopback unless
// the operator sets another. Never on the public API: metrics reveal the deployment's load to outsiders, and a token in a
// scraper's configuration is one more secret to lose.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { isLoopback } from '../environment.ts';
import { createHostCheck } from '../host-check.ts';

export interface MetricsServer {
  address: string;
  port: number;
  close: () => Promise<void>;
}

export async function serveMetrics(options: {
  host: string;
  port: number;
  /** The complete text of each source; a failing source does not affect the others. */
  sources: (() => Promise<string>)[];
  onError: (error: unknown) => void;
}): Promise<MetricsServer> {
  // On other addresses scrapers may use any name of the machine.
  const isKnownHost = isLoopback(options.host) ? createHostCheck([]) : () => true;
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
    };
    if (!isKnownHost(request)) return answer(421, 'text/plain', 'use the address of this server\n');
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'text/plain', 'GET only\n');
    if (path === '/healthz') return answer(200, 'application/json', '{"status":"ok"}');
    if (path !== '/metrics') return answer(404, 'text/plain', 'there are /metrics and /healthz\n');
    void Promise.all(options.sources.map((read) => read().catch((error: unknown) => (options.onError(error), ''))))
      .then((texts) => answer(200, exposition, texts.join('\n')))
      .catch(options.onError);
  });
  server.requestTimeout = 5_000;
  const { address, port } = await listening(server, options);
  return { address, port, close: () => closed(server) };
}

const exposition = 'text/plain; version=0.0.4; charset=utf-8';

function listening(server: Server, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('the metrics have no address'));
      else resolve(address);
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
