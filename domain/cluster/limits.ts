// Limits of a cluster: its lifetime, the launches and failures of its instances, and its inspections.

/** Sealed bundles are kept for this long, and no instance could start afterwards, so no job or cluster can run longer. */
export const sealedForDays = 397;
export const longestClusterMs = sealedForDays * 86_400_000;

/** Events in a view; the oldest ones are dropped. */
export const maxEventsKept = 50;

/** Changes held while the database is unavailable, some 400 kB; the oldest ones are dropped. */
export const maxHistoryHeld = 3_000;

/** An instance that has not registered this long after its launch is terminated and replaced. */
export const registerTimeoutMs = 120_000;
/** A cloud's machine first boots and downloads its agent: Karpenter allows 15 minutes, but here a user waits. */
export const cloudRegisterTimeoutMs = 600_000;
/**
 * The provider is first asked about an unregistered instance this long after its launch, then each time its age has doubled, so machines that their
 * cloud ends, or that power themselves off, are replaced long before the timeout.
 */
export const describeUnregisteredAfterMs = 60_000;
/**
 * Time between the two checks after which such an instance is replaced. Agents retry every few seconds, and a timer that fires at the end of an
 * outage must not overtake their registrations.
 */
export const registrationRecheckMs = 30_000;

/**
 * Consecutive failures of a slot's instances before the slot is given up with the reason. An instance that has worked for the window after its
 * registration resets the failure streak.
 */
export const maxSlotFailures = 5;
/** A wrong program or option fails in the same way on every instance; the second failure shows that the first was no accident. */
export const maxProgramErrors = 2;
export const slotFailureWindowMs = 600_000;
/** Instances that never register fail slowly, each after its whole timeout, and cost money meanwhile. */
export const maxNeverRegistered = 4;

/**
 * Pauses of a slot before its next instance, after one, two, three and four consecutive failures. On a cloud they are long enough that a fault of
 * half an hour costs a slot four instances and not the slot itself; on a host instances cost nothing.
 */
export const cloudSlotPausesMs: readonly number[] = [0, 15_000, 120_000, 1_800_000];
export const localSlotPausesMs: readonly number[] = [0, 2_000, 10_000, 30_000];

/** AWS announces the interruption of a spot instance 2 minutes before it, Google Cloud 30 seconds. */
export const maxInterruptionNoticeMs = 3_600_000;
/** An interrupted instance counts as terminated this long after the announced time, if its agent has not reported leaving. */
export const interruptedGraceMs = 30_000;

/** Interval of a cluster's own inspections, regardless of the API: each costs 16 history events. */
export const ownCheckEveryMs = 6 * 3_600_000;
/** EC2 charges each hour of a spot instance at the price at its beginning; a read of the prices costs 11 history events. */
export const readPricesEveryMs = 3_600_000;
/** The first inspection comes this long after an instance registered; instances that registered within one period are inspected together. */
export const firstOwnCheckAfterMs = 900_000;
export const firstOwnCheckGridMs = 300_000;
/** A silent instance that its cloud does not know in so many consecutive inspections ended long ago. */
export const maxMissing = 2;
/** An instance that exists but stays silent for this many consecutive inspections, while the API hears others, is lost. */
export const maxSilentInspections = 3;
/** When more than this share of at least `massLossMinimum` instances seem lost at once, the cluster raises an alarm instead of replacing them. */
export const massLossShare = 0.45;
export const massLossMinimum = 3;

/** How long an unavailable offer is excluded (Karpenter's cache of unavailable offerings: 3 min). */
export const unavailableOfferMs = 180_000;

/** Back-off after a failed launch, doubling between these. */
export const minLaunchBackoffMs = 2_000;
export const maxLaunchBackoffMs = 60_000;

/** With --wait-for-capacity, launches are retried after a pause that grows between these. */
export const minCapacityPauseMs = 10_000;
export const maxCapacityPauseMs = 300_000;
/** The longest --wait-for-capacity. */
export const maxCapacityWaitMs = 30 * 86_400_000;

/**
 * Retries of a launch that a cloud refuses with an unknown code, five minutes with their back-off, before its slots are given up with that code as
 * the reason. A launch whose outcome is hidden by such an answer is repeated as often.
 */
export const maxUnknownLaunches = 10;

/** A scheduler with a huge graph may not answer for minutes; tests need seconds. */
export const minUnresponsiveMs = 5_000;
