// The interval of reconciliation, and its grace period.

/** Milliseconds between two scheduled runs. */
export const reconcileEveryMs = 5 * 60_000;

/**
 * A row is finalized when its workflow was missing in two runs at least this far apart. Shorter than the interval, because clocks jump; only a
 * minute, because an operator who has restored a database runs the reconciliation twice by hand.
 */
export const reconcileGraceMs = 60_000;
