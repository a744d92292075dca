// The few variables of the agent's own environment that commands inherit. Programs that build Python environments have their
// own list (environment/run-tool.ts), because an index's address may contain a password.
import type { Variables } from './runtime.ts';

/** Inherited by a job's tasks. */
export const taskBase = (own: Variables): Variables => pick(own, ordinary);

/** Inherited by Dask's processes: user code in them reaches data through proxies and TLS. */
export const daskBase = (own: Variables): Variables => pick(own, [...ordinary, ...network]);

/** Inherited by commands in a container, where the instance's paths do not exist. */
export const proxies = (own: Variables): Variables => pick(own, proxyNames);

/** Omits the variables without a value. */
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

/** The variables of these names; undefined where one has no value. */
export const pick = (own: Variables, names: readonly string[]): Variables =>
  Object.fromEntries(names.map((name) => [name, own[name]]));
