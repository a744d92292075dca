// Limits of a cluster: its length of life, the launches and failures of its instances, and its inspections.

/** What a job or cluster is started with stays sealed for this long, so neither can live longer: no instance starts afterwards. */
export const sealedForDays = 397;
export const longestClusterMs = sealedForDays * 86_400_000;

/** Events in a view; the oldest ones are dropped. */
export const maxEventsKept = 50;

/** Changes that wait for the database while it is unavailable, some 400 kB; the oldest ones are dropped. */
export const maxHistoryHeld = 3_000;

/** An instance that has not registered this long after its launch is terminated and replaced. */
export const registerTimeoutMs = 120_000;
/** A cloud's machine first boots and fetches its agent: Karpenter allows 15 minutes, and a user waits for this one. */
export const cloudRegisterTimeoutMs = 600_000;
/**
 * The provider is first asked about an instance that has not registered this long after its launch, then each time its age has
 * doubled: machines that their cloud ends, or that power themselves off, are replaced long before the timeout.
 */
export const describeUnregisteredAfterMs = 60_000;
/**
 * Between the two checks after which such an instance is replaced: agents retry every few seconds, and a timer that fires at the end
 * of an outage must not overtake their registrations.
 */
export const registrationRecheckMs = 30_000;

/**
 * Instances of one slot that fail one after the other before the slot is abandoned with its reason. An instance that has worked for
 * the window after it registered resets the failure streak.
 */
export const maxSlotFailures = 5;
/** A program or option that is wrong fails in the same way on every instance; the second one shows that it was no accident. */
export const maxProgramErrors = 2;
export const slotFailureWindowMs = 600_000;
/** Those that live and never register fail slowly, each after its whole timeout, and cost money meanwhile. */
export const maxNeverRegistered = 4;

/**
 * Pauses of a slot before its next instance, after one, two, three and four failures in a row. On a cloud they are so long that a
 * fault of half an hour costs four instances a slot and not the slot itself; on a host instances cost nothing.
 */
export const cloudSlotPausesMs: readonly number[] = [0, 15_000, 120_000, 1_800_000];
export const localSlotPausesMs: readonly number[] = [0, 2_000, 10_000, 30_000];

/** AWS announces the interruption of a spot instance 2 minutes before it, Google Cloud 30 seconds. */
export const maxInterruptionNoticeMs = 3_600_000;
/** An interrupted instance counts as gone this long after the announced time, if its agent has not reported leaving. */
export const interruptedGraceMs = 30_000;

/** A cluster inspects its instances this often whatever the API has heard: 16 events of its history each time. */
export const ownCheckEveryMs = 6 * 3_600_000;
/** The first time this long after an instance registered; those that registered within one period are inspected together. */
export const firstOwnCheckAfterMs = 900_000;
export const firstOwnCheckGridMs = 300_000;
/** A silent instance that its cloud does not know so many times in a row ended long ago, and its cloud has forgotten it. */
export const maxMissing = 2;
/** An instance that exists but stays silent for this many inspections in a row, while the API hears others, is lost. */
export const maxSilentInspections = 3;
/** When more than this share of at least `massLossMinimum` instances look lost at once, the cluster alarms instead of replacing. */
export const massLossShare = 0.45;
export const massLossMinimum = 3;

/** An offer that was unavailable is excluded for this long (Karpenter's cache of unavailable offerings: 3 min). */
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
 * Retries of a launch that a cloud refuses with an unknown code, five minutes with their back-off, before its slots are abandoned with
 * that code as the reason. A launch whose outcome such an answer hides is repeated as often.
 */
export const maxUnknownLaunches = 10;

/** A scheduler that is busy with a huge graph may need minutes; tests need seconds. */
export const minUnresponsiveMs = 5_000;
