// One request, from its first byte to the last one of the answer.
import { type Agent, request } from 'node:http';

export interface Asked {
  method?: 'GET' | 'POST';
  path: string;
  body?: Uint8Array;
  /** Its processor time is measured (event-loop.ts). */
  isTimed?: boolean;
}

/** Resolves with the status when the whole answer has arrived. */
export function ask(
  agent: Agent,
  { apiUrl, token }: { apiUrl: string; token: string },
  { method = 'GET', path, body, isTimed = false }: Asked,
): Promise<number> {
  const { hostname, port } = new URL(apiUrl);
  return new Promise((resolve, reject) => {
    const sized = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.byteLength };
    const headers = { authorization: `Bearer ${token}`, ...sized, ...(isTimed ? { 'x-sent-at': Date.now() } : {}) };
    const sent = request({ hostname, port, method, path, agent, headers }, (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A body over the rate is answered before all of it was sent.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve(0);
      else reject(error);
    });
    sent.end(body);
  });
}
