// The address of a caller, for limits of callers without a token. A header counts only as far as our own proxies have written it.
import { isIPv4 } from 'node:net';

import type { Context } from 'hono';

import { parseIpv6 } from '../../domain/ipv6.ts';
import type { AppEnv } from '../routes/app.ts';
import { incomingOf } from './incoming.ts';

export const callerAddress = (c: Context<AppEnv>): string | null => {
  const peer = incomingOf(c)?.socket.remoteAddress;
  return addressOf(peer, c.req.header('x-forwarded-for'), c.var.deps.trustedProxies ?? 0);
};

/** Null where callers cannot be distinguished: for an unknown address, or for loopback, where a proxy may run. */
export function addressOf(
  peer: string | undefined,
  forwarded: string | undefined,
  trustedProxies: number,
): string | null {
  const reported = forwarded?.split(',').at(-trustedProxies)?.trim();
  const address = (trustedProxies === 0 ? peer : reported)?.replace(/^::ffff:(?=\d+\.)/i, '') ?? '';
  if (address.startsWith('127.') || address === '::1') return null;
  if (isIPv4(address)) return address;
  // One customer has a whole /64.
  const groups = parseIpv6(address);
  return groups === null ? null : groups.slice(0, 4).map(hexadecimal).join(':');
}

const hexadecimal = (group: number): string => group.toString(16);
