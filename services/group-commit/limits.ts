// Limits of one group-committed update and of what waits for it.

/** Items and bytes in one update: a 2.5 MB argument fails the workflow task and stalls every agent of the workflow. */
export const maxFlushItems = 500;
export const maxFlushBytes = 256 * 1024;

/** Items that wait for a flush in one API process, per workflow, before callers get TOO_BUSY. */
export const maxFlushQueue = 5_000;

/** How long a group commit collects items: it grows with task time between these. */
export const minFlushWindowMs = 25;
export const maxFlushWindowMs = 2_000;
