// The API's address and credentials: options first, then the environment, then config.yaml. Each of the two values is resolved
// on its own, as in the command line and in the Python package.
import { readDefaults } from '#defaults';

import { ConfigurationError } from './errors.ts';

/** Returns its caller's address as text. */
const defaultAddressUrl = 'https://checkip.amazonaws.com';

export interface ConnectionOptions {
  /**
   * Address of the API, e.g. `http://127.0.0.1:7280`; a path before `/v1` is kept. In Node, without it: `ROPEWALK_API_URL`,
   * then `apiUrl` of `config.yaml` in `ROPEWALK_HOME` (`~/.ropewalk`). Required elsewhere.
   */
  apiUrl?: string | undefined;
  /** `rw_{workspace}_{id}-{secret}`. In Node, without it: `ROPEWALK_TOKEN`, then `token` of `config.yaml`. */
  token?: string | undefined;
  /**
   * A URL that answers with the caller's public address, for `me` in `allowIngressFrom` and `allowSshFrom`. In Node, without it:
   * `ROPEWALK_ADDRESS_URL`; otherwise https://checkip.amazonaws.com.
   */
  addressUrl?: string | undefined;
  /** Replaces the global `fetch`: for tests, proxies, other runtimes. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** The settings of a request. */
export interface Connection {
  /** Origin and path, without a trailing slash. */
  apiUrl: string;
  /** Null for the requests that obtain a token. */
  token: string | null;
  addressUrl: string;
  fetch: typeof globalThis.fetch;
}

/** Throws ConfigurationError when a value is missing, or the address is not an http(s) URL. */
export function resolveConnection(options: ConnectionOptions): Connection {
  const defaults = readDefaults();
  const token = options.token || defaults.token();
  const connection = resolveAnonymousConnection(options, defaults);
  if (token) return { ...connection, token };
  throw new ConfigurationError(`No token for ${connection.apiUrl}: pass \`token\`${defaults.alternatives('token')}.`);
}

/** For the requests that obtain a token. Throws ConfigurationError. */
export function resolveAnonymousConnection(
  { apiUrl: given, addressUrl, fetch = globalThis.fetch }: Omit<ConnectionOptions, 'token'>,
  defaults = readDefaults(),
): Connection {
  const apiUrl = given || defaults.apiUrl();
  if (!apiUrl) throw new ConfigurationError(`No API address: pass \`apiUrl\`${defaults.alternatives('apiUrl')}.`);
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigurationError(`The API address must be an http or https URL, not ${JSON.stringify(apiUrl)}.`);
  }
  return {
    apiUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    token: null,
    addressUrl: addressUrl || defaults.addressUrl() || defaultAddressUrl,
    fetch,
  };
}
