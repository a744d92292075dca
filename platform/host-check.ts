// The host names under which a server answers. A web page can have its own name resolve to this machine's loopback address, and
// then read the server's answers as its own (DNS rebinding): the browser still sends the page's host name. An IP address cannot
// be rebound, so requests to an address are answered.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** True for requests to `localhost`, an address, or one of `names`, with one Host header. */
export type HostCheck = (request: IncomingMessage) => boolean;

export function createHostCheck(names: readonly string[]): HostCheck {
  const known = new Set(['localhost', ...names].map((name) => name.toLowerCase()));
  return ({ rawHeaders, headers }) => {
    const count = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
    if (count > 1) return false;
    // HTTP/1.0 has no Host header; no browser uses it.
    if (headers.host === undefined) return true;
    const name = /^(\[[0-9a-f:.]+\]|[^:[\]@/\s]+)(?::\d{1,5})?$/i.exec(headers.host)?.[1]?.toLowerCase() ?? '';
    return known.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  };
}
