// What passes between a browser and Dask. Both ways only what is named here: no cookie, no credential, no address of
// either side, and nothing that Dask could use to act on the pages of our own beside it.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

const toDask = ['accept', 'accept-encoding', 'accept-language', 'if-none-match', 'if-modified-since', 'range'];
const toDaskSocket = ['key', 'version', 'protocol', 'extensions'].map((name) => `sec-websocket-${name}`);
const toBrowser = [
  ...['content-type', 'content-length', 'content-encoding', 'content-range', 'accept-ranges'],
  ...['etag', 'last-modified', 'vary'],
];
const toBrowserSocket = ['accept', 'protocol', 'extensions'].map((name) => `sec-websocket-${name}`);

/** Dask is not told which host people asked for: a name of its own cannot be mistaken for one of ours. */
export const daskHost = 'dask.invalid';

export const requestHeaders = (from: IncomingHttpHeaders): OutgoingHttpHeaders => ({
  ...pick(from, toDask),
  host: daskHost,
  connection: 'close',
});

export const upgradeHeaders = (from: IncomingHttpHeaders): OutgoingHttpHeaders => ({
  ...pick(from, toDaskSocket),
  host: daskHost,
  connection: 'Upgrade',
  upgrade: 'websocket',
});

export const responseHeaders = (from: IncomingHttpHeaders, publicOrigin: string): OutgoingHttpHeaders => ({
  ...pick(from, toBrowser),
  ...dashboardSecurity(publicOrigin),
});

export const switchHeaders = (from: IncomingHttpHeaders): OutgoingHttpHeaders => ({
  ...pick(from, toBrowserSocket),
  connection: 'Upgrade',
  upgrade: 'websocket',
});

/** Headers of pages of our own about a dashboard: nothing runs in them, and nothing of them is kept. */
export const ownSecurity = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** Bokeh needs scripts in the page and made from text. Info pages take one style sheet from where Dask keeps it. */
function dashboardSecurity(publicOrigin: string): OutgoingHttpHeaders {
  const policy = [
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src 'self' 'unsafe-inline' https://cdnjs.cloudflare.com/ajax/libs/bulma/",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    `connect-src 'self' ${publicOrigin.replace(/^http/, 'ws')}`,
    "worker-src 'none'",
    "object-src 'none'",
    "frame-src 'none'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'SAMEORIGIN',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    // Not that of our own pages: a browser then gives a page of ours that is opened from here a window that scripts here cannot
    // reach, the sign-in page above all.
    'cross-origin-opener-policy': 'unsafe-none',
    'cross-origin-resource-policy': 'same-origin',
    // Validators still spare the bytes; a cache that others share must not answer in our place.
    'cache-control': 'private, no-cache',
  };
}

function pick(from: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
