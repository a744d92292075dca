// Limits of workflow tasks, updates and the length of a run.

/** The API answers TIMEOUT when a workflow has not answered an update for this long. */
export const updateDeadlineMs = 10_000;

/** A killed Temporal worker stalls a workflow task this long; with a shorter timeout, busy machines would replay instead of work. */
export const workflowTaskTimeoutMs = 5_000;

/**
 * Events after which a run continues as new: some 0.2 s of replay on one busy core, where a workflow task has 5 s. A restarted Temporal worker
 * replays each open workflow that receives a message. Temporal itself suggests continue-as-new at 4,096.
 */
export const maxEventsOfRun = 1_000;
/**
 * The same for a run that is older than `oldRunAfterMs`. 1,000 open jobs are 1,000 replays when a Temporal worker starts, at some 0.2 ms an event
 * (bench `restart`). This limit makes a run continue at most every ten minutes.
 */
export const maxEventsOfOldRun = 120;
export const oldRunAfterMs = 600_000;
