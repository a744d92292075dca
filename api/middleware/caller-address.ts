// From where a caller comes, for bounds on those who have no token. What a header says of it counts only as far as proxies of
// ours have written it.
import { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

import type { Context } from 'hono';

import type { AppEnv } from '../routes/app.ts';

export const callerAddress = (c: Context<AppEnv>): string | null => {
  const env: unknown = c.env;
  const incoming: unknown = typeof env === 'object' && env !== null && 'incoming' in env ? env.incoming : null;
  const peer = incoming instanceof IncomingMessage ? incoming.socket.remoteAddress : undefined;
  return addressOf(peer, c.req.header('x-forwarded-for'), c.var.deps.trustedProxies ?? 0);
};

/** Null where nobody can be told from others: an unknown address, or this machine's own, behind which a proxy may be. */
export function addressOf(
  peer: string | undefined,
  forwarded: string | undefined,
  trustedProxies: number,
): string | null {
  const told = forwarded?.split(',').at(-trustedProxies)?.trim();
  const address = (trustedProxies === 0 ? peer : told)?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
  if (address.startsWith('127.') || address === '::1') return null;
  if (isIPv4(address)) return address;
  return isIPv6(address) ? networkOf(address) : null;
}

/** One customer has a whole /64. */
function networkOf(address: string): string {
  const [head = '', tail = ''] = address.toLowerCase().split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const zeros = Array.from({ length: Math.max(0, 8 - groups(head).length - groups(tail).length) }, () => '0');
  return [...groups(head), ...zeros, ...groups(tail)]
    .slice(0, 4)
    .map((each) => Number.parseInt(each, 16).toString(16))
    .join(':');
}
