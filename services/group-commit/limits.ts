// Limits of one group-committed update and of its queue.

/** Maximum items and bytes in one update: a 2.5 MB argument fails the workflow task and stalls every agent of the workflow. */
export const maxFlushItems = 500;
export const maxFlushBytes = 256 * 1024;

/** Maximum items that wait for a flush in one API process, per workflow; further callers get TOO_BUSY. */
export const maxFlushQueue = 5_000;

/** Bounds of the time in which a group commit collects items; it grows with task time. */
export const minFlushWindowMs = 25;
export const maxFlushWindowMs = 2_000;
