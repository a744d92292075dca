// The few variables of the agent's own environment that commands inherit. Programs that build Python environments have a
// list of their own (environment/run-tool.ts), since an index's address may hold a password.
import type { Variables } from './runtime.ts';

/** What a job's tasks inherit. */
export const taskBase = (own: Variables): Variables => pick(own, ordinary);

/** What Dask's processes inherit: user code in them reaches data through proxies and TLS. */
export const daskBase = (own: Variables): Variables => pick(own, [...ordinary, ...network]);

/** What commands in a container inherit: paths of the instance mean nothing there. */
export const proxies = (own: Variables): Variables => pick(own, proxyNames);

/** Without the variables that have no value. */
export const defined = (variables: Variables): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

export const ordinary = ['PATH', 'HOME', 'LANG', 'TMPDIR'];
const proxyNames = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
];
export const network = [...proxyNames, ...['SSL_CERT_FILE', 'SSL_CERT_DIR']];

/** Of these names; undefined where one has no value. */
export const pick = (own: Variables, names: readonly string[]): Variables =>
  Object.fromEntries(names.map((name) => [name, own[name]]));
