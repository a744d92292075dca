// The part of the store's port that keeps what checks of the clouds have found last.

export interface CloudFinding {
  /** Of the check; unique within a provider. */
  name: string;
  atMs: number;
  state: 'ok' | 'broken';
  text: string;
  /** What to do; empty when all is well. */
  fix: string;
}

export interface CloudCheckStore {
  /** By name. */
  list(provider: string): Promise<CloudFinding[]>;
  /** Each in place of the one before it of its name, unless that is newer. */
  put(provider: string, findings: readonly CloudFinding[]): Promise<void>;
}
