// When a workflow writes its view to the database: at once when its status changes, otherwise every few seconds while its listed figures change, and
// never while nothing changes. An idle cluster causes no events.

/** The listed fields of a job or cluster, as comparable text. */
export interface Shown {
  status: string;
  /** All other listed fields. */
  digest: string;
}

export interface Projection {
  /** Version of the newest view that was sent to the database. It grows with every attempt, also across continue-as-new. */
  version: number;
  /** The listed fields of the last written view. */
  written: Shown;
  writtenAtMs: number;
  /** When to retry a failed write. */
  retryAtMs: number;
}

/** Maximum age of lists while work continues: each write costs some ten events. */
export const projectEveryMs = 5_000;

/** Pause before an unavailable database is tried again: an attempt costs as many events as a write. */
export const projectionRetryMs = 30_000;

/** A row has the status `pending` before its workflow's first write. */
export const createProjection = (nowMs: number): Projection => ({
  version: 0,
  written: { status: 'pending', digest: '' },
  writtenAtMs: nowMs,
  retryAtMs: 0,
});

/** When to write the view; a past time means now, null that the database has all listed fields. */
export function projectionDueMs({ written, writtenAtMs, retryAtMs }: Projection, shown: Shown): number | null {
  if (shown.status !== written.status) return retryAtMs;
  return shown.digest === written.digest ? null : Math.max(writtenAtMs + projectEveryMs, retryAtMs);
}

export const projectionDue = (projection: Projection, shown: Shown, nowMs: number): boolean => {
  const dueMs = projectionDueMs(projection, shown);
  return dueMs !== null && dueMs <= nowMs;
};

/** Returns the version for the next write. */
export function nextVersion(projection: Projection): number {
  projection.version += 1;
  return projection.version;
}

/** Notes that the database has these listed fields as of this time. */
export function projectionWritten(projection: Projection, shown: Shown, atMs: number): void {
  projection.written = shown;
  projection.writtenAtMs = atMs;
}

export function projectionFailed(projection: Projection, nowMs: number): void {
  projection.retryAtMs = nowMs + projectionRetryMs;
}
