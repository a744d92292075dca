// Sends one webhook request. The resolved address is checked in the connection itself, so that the name cannot resolve to
// another one in between. Redirects are not followed: an answer 3xx is a failed delivery.
import { lookup as resolve, type LookupAddress } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

import { isPublicAddress } from './addresses.ts';

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** The operator allows webhooks to loopback, private and link-local addresses, and over plain HTTP. */
  allowPrivate: boolean;
  signal: AbortSignal;
}

/** `error`: why no answer came, without the URL, which may contain a secret. */
export type WebhookAnswer = { status: number; error: string | null } | { status: null; error: string };

const timeoutMs = 15_000;

/** Never rejects. */
export function sendWebhook({ url, headers, body, allowPrivate, signal }: WebhookRequest): Promise<WebhookAnswer> {
  const parsed = URL.parse(url);
  if (parsed === null || !isAllowedUrl(parsed, allowPrivate)) {
    return Promise.resolve({ status: null, error: 'its URL is not allowed' });
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  // A literal address is never looked up.
  if (isIP(host) !== 0 && !allowPrivate && !isPublicAddress(host)) return Promise.resolve(refused);
  const { promise, resolve: answer } = Promise.withResolvers<WebhookAnswer>();
  const options: RequestOptions = {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'ropewalk',
    },
    // A new connection: a kept-alive one could be to an address that was checked long ago.
    agent: false,
    lookup: allowPrivate ? undefined : publicLookup,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  };
  const sent = (parsed.protocol === 'https:' ? requestHttps : requestHttp)(parsed, options, (response) => {
    const { statusCode = 0 } = response;
    // The body is not read, because it could be endless.
    response.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400;
    answer({ status: statusCode, error: isRedirect ? 'it redirects, and redirects are not followed' : null });
  });
  sent.on('error', (error: NodeJS.ErrnoException) => {
    answer(
      error === notPublicError || error.cause === notPublicError ? refused : { status: null, error: reasonOf(error) },
    );
  });
  sent.end(body);
  return promise;
}

export function isAllowedUrl({ protocol, username, password }: URL, allowPrivate: boolean): boolean {
  return username === '' && password === '' && (protocol === 'https:' || (allowPrivate && protocol === 'http:'));
}

const notPublicError = new Error('not a public address');
const refused: WebhookAnswer = { status: null, error: 'its name leads to a private, loopback or link-local address' };

/** All addresses of the name must be public, because the connection may use any of them. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, found) => {
    const addresses: LookupAddress[] = found ?? [];
    if (error !== null) callback(error, []);
    else if (!addresses.every(({ address }) => isPublicAddress(address))) callback(notPublicError, []);
    else if (options.all === true) callback(null, addresses);
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  });
};

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.name === 'TimeoutError' || error.cause instanceof DOMException)
    return `no answer within ${timeoutMs / 1_000} s`;
  return error.code ?? error.name;
}
