// Retention of ended instances' files on this machine.

/**
 * The directory of an ended instance is deleted this long after its last write. A day is enough to examine a failure (logs are
 * stored elsewhere), and every list reads the directories. The launch record stays longer than a cluster may exist, so that a
 * repeat of the launch starts nothing.
 */
export const endedInstanceKeptMs = 86_400_000;
export const endedMarkKeptMs = 400 * 86_400_000;
/** After a launch, ended instances are removed at most this often, and at most this many at a time. */
export const removeEndedEveryMs = 60_000;
export const maxEndedPerRound = 500;
