// The headers that pass between a browser and Dask. Both directions allow only those listed here: no cookie, no credential, no address of either
// side, and nothing with which Dask could affect our own pages.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

import type { ClusterSite } from '../../platform/tokens.ts';

const toDask = ['accept', 'accept-encoding', 'accept-language', 'if-none-match', 'if-modified-since', 'range'];
const toJupyter = ['content-type', 'content-length'];
const toDaskSocket = ['key', 'version', 'protocol', 'extensions'].map((name) => `sec-websocket-${name}`);
const toBrowser = [
  ...['content-type', 'content-length', 'content-encoding', 'content-range', 'accept-ranges'],
  ...['etag', 'last-modified', 'vary'],
];
const toBrowserSocket = ['accept', 'protocol', 'extensions'].map((name) => `sec-websocket-${name}`);

/** Dask gets this host name instead of the requested one, so it cannot confuse its own name with ours. */
export const daskHost = 'dask.invalid';

/** `jupyterToken`: for requests to the cluster's Jupyter server, which may have a body. */
export const requestHeaders = (from: IncomingHttpHeaders, jupyterToken: string | null): OutgoingHttpHeaders => ({
  ...pick(from, toDask),
  ...(jupyterToken === null ? {} : { ...pick(from, toJupyter), authorization: `token ${jupyterToken}` }),
  host: daskHost,
  connection: 'close',
});

export const upgradeHeaders = (from: IncomingHttpHeaders, jupyterToken: string | null): OutgoingHttpHeaders => ({
  ...pick(from, toDaskSocket),
  ...(jupyterToken === null ? {} : { authorization: `token ${jupyterToken}` }),
  host: daskHost,
  connection: 'Upgrade',
  upgrade: 'websocket',
});

/** `root`: the URL of this cluster's dashboard or Jupyter server, with its path. */
export const responseHeaders = (from: IncomingHttpHeaders, root: string, site: ClusterSite): OutgoingHttpHeaders => ({
  ...pick(from, site === 'jupyter' ? [...toBrowser, 'content-disposition'] : toBrowser),
  ...dashboardSecurity(root),
});

export const switchHeaders = (from: IncomingHttpHeaders): OutgoingHttpHeaders => ({
  ...pick(from, toBrowserSocket),
  connection: 'Upgrade',
  upgrade: 'websocket',
});

/**
 * Isolates a page's window, memory and bytes from other origins, above all the API's. Cross-origin isolation would give a hostile page precise
 * clocks, so its permission is denied.
 */
const apart = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'credentialless',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'cross-origin-isolated=(), camera=(), microphone=(), geolocation=(), clipboard-read=()',
} as const;

/** Headers of our own pages about a dashboard: they run no scripts, and are not cached. */
export const ownSecurity = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  ...apart,
  'cache-control': 'no-store',
} as const;

/**
 * Bokeh needs inline scripts and `eval`. Info pages use one style sheet from Dask's CDN. Sources name the path of this one dashboard, and the sandbox
 * allows no new window: where dashboards share an origin, scripts of one cluster can neither fetch pages of another nor open them in a readable
 * window.
 */
function dashboardSecurity(root: string): OutgoingHttpHeaders {
  const policy = [
    `default-src ${root}`,
    `script-src ${root} 'unsafe-inline' 'unsafe-eval'`,
    `style-src ${root} 'unsafe-inline' https://cdnjs.cloudflare.com/ajax/libs/bulma/`,
    `img-src ${root} data: blob:`,
    `font-src ${root} data:`,
    `connect-src ${root} ${root.replace(/^http/, 'ws')}`,
    "worker-src 'none'",
    "object-src 'none'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    'sandbox allow-scripts allow-same-origin allow-downloads',
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...apart,
    // Validators still save the bytes; a shared cache must not answer in our place.
    'cache-control': 'private, no-cache',
  };
}

function pick(from: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
