// What a runtime knows of the API without being told by the program: defaults-node.ts and defaults-none.ts implement it.

/** What the environment and the configuration file say; values are read only when an option is missing. */
export interface Defaults {
  apiUrl(): string | undefined;
  token(): string | undefined;
  /** Ends the sentence "No API address: pass `apiUrl`, ...". */
  alternatives(name: 'apiUrl' | 'token'): string;
}
