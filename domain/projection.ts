// When a workflow writes its view to the database: at once when its status changes, otherwise every few seconds while
// something changes that lists show, and never while nothing does. An idle cluster causes no events.

/** What lists show of a job or cluster, as text that can be compared. */
export interface Shown {
  status: string;
  /** All the rest. */
  digest: string;
}

export interface Projection {
  /** Of the newest view that was handed to the database. It grows with every attempt, also across continue-as-new. */
  version: number;
  /** In the view that was written last. */
  written: Shown;
  writtenAtMs: number;
  /** After a write that failed: when to try again. */
  retryAtMs: number;
}

/** Lists are this old at most while work goes on: each write costs some ten events. */
export const projectEveryMs = 5_000;

/** A database that is unavailable is tried again after this: an attempt costs as many events as a write. */
export const projectionRetryMs = 30_000;

/** A row says `pending` before its workflow has written anything. */
export const createProjection = (nowMs: number): Projection => ({
  version: 0,
  written: { status: 'pending', digest: '' },
  writtenAtMs: nowMs,
  retryAtMs: 0,
});

/** When the view is to be written; a time that has passed means now, null that the database has all that lists show. */
export function projectionDueMs({ written, writtenAtMs, retryAtMs }: Projection, shown: Shown): number | null {
  if (shown.status !== written.status) return retryAtMs;
  return shown.digest === written.digest ? null : Math.max(writtenAtMs + projectEveryMs, retryAtMs);
}

export const projectionDue = (projection: Projection, shown: Shown, nowMs: number): boolean => {
  const dueMs = projectionDueMs(projection, shown);
  return dueMs !== null && dueMs <= nowMs;
};

/** The version for the next write. */
export function nextVersion(projection: Projection): number {
  projection.version += 1;
  return projection.version;
}

/** The database has what lists showed at this time. */
export function projectionWritten(projection: Projection, shown: Shown, atMs: number): void {
  projection.written = shown;
  projection.writtenAtMs = atMs;
}

export function projectionFailed(projection: Projection, nowMs: number): void {
  projection.retryAtMs = nowMs + projectionRetryMs;
}
