// A proxy between agents and API that for a while answers in the API's place.
import { createServer, request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

import { addressOf } from '../../support/shared-client.ts';

export interface ForeignAnswer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
}

export interface Proxy {
  url: string;
  /** The target of requests; while it is null, requests get a 503. */
  upstream: string | null;
  /** Sent instead of the API's answer. */
  foreign: ForeignAnswer | null;
  /** The number of foreign answers so far. */
  count: number;
  close: () => void;
}

export async function startProxy(): Promise<Proxy> {
  const server = createServer((received, response) => {
    const foreign = proxy.foreign ?? (proxy.upstream === null ? notReady : null);
    if (foreign === null) return forward(proxy.upstream ?? '', received, response);
    received.resume();
    proxy.count += 1;
    response.writeHead(foreign.status, foreign.headers).end(foreign.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: Proxy = {
    url: addressOf(server),
    upstream: null,
    foreign: null,
    count: 0,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return proxy;
}

const notReady: ForeignAnswer = { status: 503, headers: {}, body: '' };

function forward(upstream: string, received: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url = '/' } = received;
  const onward = request(new URL(url, upstream), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.once('error', () => response.destroy());
  response.once('close', () => onward.destroy());
  received.pipe(onward);
}
