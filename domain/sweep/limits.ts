// The interval of the sweep, and the limits of one round.

/** The interval of the sweep. */
export const sweepEveryMs = 5 * 60_000;

/** An orphan is terminated when the sweep first saw it this long ago and still does: shorter than the interval, because clocks jump. */
export const sweepGraceMs = 4 * 60_000;

/** A launch may need its cloud resources for this long: twice the timeout of one attempt. */
export const launchMayLastMs = 10 * 60_000;

/**
 * Sealed objects that expired this long ago are deleted; they can no longer be opened, so the delay only allows for clocks that jump. Limits of a
 * round: the examined objects, and approximately the read bytes.
 */
export const expiredKeptMs = 7 * 86_400_000;
export const maxExpiredPerRound = 500;
export const maxExpiredBytes = 64 * 1024 * 1024;

/** Maximum concurrent descriptions of workflows, because the rate limit of a namespace is shared with all other requests. */
export const sweepDescribeAtOnce = 10;
