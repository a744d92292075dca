// The API answers only under its own host names, for the reason in platform/host-check.ts.
import { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpBindings, Http2Bindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

import type { HostCheck } from '../platform/host-check.ts';

type Fetch = (request: Request, env: HttpBindings | Http2Bindings) => Response | Promise<Response>;

/** Before all other handlers. */
export function withKnownHosts(isKnown: HostCheck, fetch: Fetch): Fetch {
  return (request, env) => {
    const { incoming, outgoing } = env;
    const isHttp = incoming instanceof IncomingMessage && outgoing instanceof ServerResponse;
    if (!isHttp || isKnown(incoming)) return fetch(request, env);
    outgoing.writeHead(421, { 'content-type': 'application/json', connection: 'close' });
    outgoing.end(JSON.stringify({ error: { code: 'FORBIDDEN', message, hint } }));
    return RESPONSE_ALREADY_SENT;
  };
}

// Without the header of our own errors: an agent then treats it as a proxy's error, and ends nothing because of it.
const message = 'The API does not answer under the name in the Host header.';
const hint = 'Use the host of ROPEWALK_PUBLIC_URL, or add the name to ROPEWALK_ALLOWED_HOSTS.';
