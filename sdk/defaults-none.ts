// Browsers and other runtimes without a file system: the program passes the address and the token.
import type { Defaults } from './defaults.ts';

export function readDefaults(): Defaults {
  return { apiUrl: () => undefined, token: () => undefined, addressUrl: () => undefined, alternatives: () => '' };
}
