// The store's port for the latest findings of cloud checks.

export interface CloudFinding {
  /** The check's name; unique within a provider. */
  name: string;
  atMs: number;
  state: 'ok' | 'broken';
  text: string;
  /** A remedy; empty for a good finding. */
  fix: string;
}

export interface CloudCheckStore {
  /** By name. */
  list(provider: string): Promise<CloudFinding[]>;
  /** Replaces the previous finding of each name, unless that is newer. */
  put(provider: string, findings: readonly CloudFinding[]): Promise<void>;
}
