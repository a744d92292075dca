// What can go wrong with a cluster while the API itself answers well: it failed, or it took too long.
import type { Cluster } from '../schema/clusters.ts';

/** One cause, and how often it was met. */
export interface FailureGroup {
  code: string;
  /** A sentence for people, of the newest one. */
  text: string;
  count: number;
}

/** The cluster ended, or nothing that could be waited for can still come. */
export class ClusterFailedError extends Error {
  override readonly name = 'ClusterFailedError';
  /** The last view of it. */
  readonly cluster: Cluster;
  /** Why it ended, e.g. `START_FAILED`; `NO_WORKERS`, `NOT_ENOUGH_WORKERS` or `NOT_DASK` while it is open. */
  readonly code: string;
  /** What went wrong on its instances, most frequent first. */
  readonly failures: readonly FailureGroup[];

  constructor(cluster: Cluster, code: string, what: string) {
    const failures = groupFailures(cluster);
    super([what, ...failures.map(formatFailure)].join('\n'));
    this.cluster = cluster;
    this.code = code;
    this.failures = failures;
  }
}

/** The time given for waiting is over; the cluster itself is not touched by that. */
export class ClusterTimeoutError extends Error {
  override readonly name = 'ClusterTimeoutError';
  /** The last view of it, or null when the API did not answer in all that time. */
  readonly cluster: Cluster | null;

  constructor(cluster: Cluster | null, what: string) {
    super([what, ...(cluster === null ? [] : groupFailures(cluster)).map(formatFailure)].join('\n'));
    this.cluster = cluster;
  }
}

/** The cluster keeps count of them; instances that failed a moment ago may not be counted yet. */
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
