// Default address and token of a runtime, implemented by defaults-node.ts and defaults-none.ts.

/** Values of the environment and the configuration file. They are read only when the program passes none. */
export interface Defaults {
  apiUrl(): string | undefined;
  token(): string | undefined;
  addressUrl(): string | undefined;
  /** Ends the sentence "No API address: pass `apiUrl`, ...". */
  alternatives(name: 'apiUrl' | 'token'): string;
}
