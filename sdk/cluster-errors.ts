// Errors of a cluster, as opposed to errors of the API: the cluster failed, or a wait took too long.
import type { Cluster } from '../schema/clusters.ts';

/** One cause of failures, and how often it occurred. */
export interface FailureGroup {
  code: string;
  /** A sentence for users, from the newest failure. */
  text: string;
  count: number;
}

/** The cluster has ended, or the state that the caller waits for can no longer be reached. */
export class ClusterFailedError extends Error {
  override readonly name = 'ClusterFailedError';
  /** The newest view of the cluster. */
  readonly cluster: Cluster;
  /** Why it ended, e.g. `START_FAILED`; `NO_WORKERS`, `NOT_ENOUGH_WORKERS` or `NOT_DASK` while it is open. */
  readonly code: string;
  /** Failures of its instances, most frequent first. */
  readonly failures: readonly FailureGroup[];

  constructor(cluster: Cluster, code: string, what: string) {
    const failures = groupFailures(cluster);
    super([what, ...failures.map(formatFailure)].join('\n'));
    this.cluster = cluster;
    this.code = code;
    this.failures = failures;
  }
}

/** The wait timed out. The cluster itself is not affected. */
export class ClusterTimeoutError extends Error {
  override readonly name = 'ClusterTimeoutError';
  /** The newest view of the cluster; null when the API did not answer during the wait. */
  readonly cluster: Cluster | null;

  constructor(cluster: Cluster | null, what: string) {
    super([what, ...(cluster === null ? [] : groupFailures(cluster)).map(formatFailure)].join('\n'));
    this.cluster = cluster;
  }
}

/** Groups failures by code. The cluster counts them; instances that failed moments ago are added to its counts. */
export function groupFailures({ failures, instances }: Cluster): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const { code, text, count } of failures) groups.set(code, { code, text, count });
  const counted = new Set(groups.keys());
  for (const { process, reason } of instances) {
    const why = process?.state === 'error' ? (process.reason ?? reason) : reason;
    if (why === null || counted.has(why.code)) continue;
    const group = groups.get(why.code) ?? { code: why.code, text: why.text, count: 0 };
    groups.set(why.code, { ...group, count: group.count + 1 });
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}

/** `2 x ENVIRONMENT_FAILED: the requirement "nonsense" cannot be installed` */
export function formatFailure({ code, text, count }: FailureGroup): string {
  return `  ${count} x ${code}: ${text}`;
}
