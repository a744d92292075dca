// Puts the relay before the HTTP application: a dashboard's requests never enter it, all others go on as they came.
import { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpBindings, Http2Bindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

import type { Relay } from './relay.ts';

type Fetch = (request: Request, env: HttpBindings | Http2Bindings) => Response | Promise<Response>;

export function withDashboards({ answer }: Pick<Relay, 'answer'>, fetch: Fetch): Fetch {
  return (request, env) => {
    const { incoming, outgoing } = env;
    const isHttp = incoming instanceof IncomingMessage && outgoing instanceof ServerResponse;
    return isHttp && answer(incoming, outgoing) ? RESPONSE_ALREADY_SENT : fetch(request, env);
  };
}

/** Whoever offers another protocol, e.g. HTTP/2, is answered in this one instead of being turned away. */
export const websocketsOnly = {
  shouldUpgradeCallback: ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket',
};
