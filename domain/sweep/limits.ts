// How often the sweep runs, and what one round does at most.

/** The sweep lists the instances that no open workflow claims this often. */
export const sweepEveryMs = 5 * 60_000;

/** An orphan is terminated when the sweep saw it this long ago and still does: shorter than the period, because clocks jump. */
export const sweepGraceMs = 4 * 60_000;

/** A launch may need its cloud resources for this long: twice the timeout of one attempt. */
export const launchMayLastMs = 10 * 60_000;

/**
 * Sealed objects that expired this long ago are deleted: they cannot be opened any more, so this only allows for clocks that jump. A
 * round examines at most so many, and reads little more than so many bytes.
 */
export const expiredKeptMs = 7 * 86_400_000;
export const maxExpiredPerRound = 500;
export const maxExpiredBytes = 64 * 1024 * 1024;

/** Workflows described at once: the rate limit of a namespace is shared with all else that asks. */
export const sweepDescribeAtOnce = 10;
