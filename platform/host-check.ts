// Under which names a server answers. A page of any website can have its own name resolve to this machine's loopback address,
// and then read what it fetches as its own (DNS rebinding): the browser still sends the name of that website. An address
// cannot be rebound, so a request that names one is answered.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** True for requests to `localhost`, an address, or one of `names`, with one Host header. */
export type HostCheck = (request: IncomingMessage) => boolean;

export function createHostCheck(names: readonly string[]): HostCheck {
  const known = new Set(['localhost', ...names].map((name) => name.toLowerCase()));
  return ({ rawHeaders, headers }) => {
    const count = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
    if (count > 1) return false;
    // HTTP/1.0 knows none; no browser speaks that.
    if (headers.host === undefined) return true;
    const name = /^(\[[0-9a-f:.]+\]|[^:[\]@/\s]+)(?::\d{1,5})?$/i.exec(headers.host)?.[1]?.toLowerCase() ?? '';
    return known.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  };
}
