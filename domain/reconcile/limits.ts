// How often rows are compared with workflows, and how long a workflow must be missing.

/** Milliseconds between two scheduled runs. */
export const reconcileEveryMs = 5 * 60_000;

/**
 * A row is finalized when its workflow was missing in two runs this many milliseconds apart. Less than the period, because
 * clocks jump; a minute, because an operator who has restored a database runs it twice by hand.
 */
export const reconcileGraceMs = 60_000;
