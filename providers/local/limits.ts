// How long the files of ended instances stay on this machine.

/**
 * The directory of an ended instance is deleted this long after its last write: a day is enough to see why an instance failed (logs are
 * stored elsewhere), and each list reads the directories. The mark of its launch is kept for longer than a cluster may live: until
 * then a repeat of that launch starts nothing.
 */
export const endedInstanceKeptMs = 86_400_000;
export const endedMarkKeptMs = 400 * 86_400_000;
/** After a launch, ended instances are searched for at most this often, and at most so many at a time. */
export const removeEndedEveryMs = 60_000;
export const maxEndedPerRound = 500;
