// What of the agent's own environment others see: the fewest names that do. Programs that build Python environments have a
// list of their own (environment/run-tool.ts), since an index's address may hold a password.

type Variables = Record<string, string | undefined>;

/** What a job's tasks see, beside what the job itself sets. */
export const taskBase = (own: Variables): Variables => pick(own, ordinary);

/** What Dask's processes see, beside what the cluster itself sets: user code in them reaches data by proxies and TLS. */
export const daskBase = (own: Variables): Variables => pick(own, [...ordinary, ...outside]);

const ordinary = ['PATH', 'HOME', 'LANG', 'TMPDIR'];
const outside = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

const pick = (own: Variables, names: readonly string[]): Variables =>
  Object.fromEntries(names.map((name) => [name, own[name]]));
