// Limits of the check for stuck workflows.

/**
 * Milliseconds between two checks, and thus the delay of a reset. A job or cluster loses nothing meanwhile, because its agents keep working and keep
 * their results; each check leaves a closed workflow in the namespace for its retention.
 */
export const stuckCheckEveryMs = 5 * 60_000;

/** A workflow task may fail once or twice for many reasons; from this attempt on, the workflow is stuck. */
export const stuckAttempts = 3;

/**
 * A workflow task without a failure lacks time: its Temporal worker was too slow, hung or died. The server gives each attempt more time, so it is
 * reported only when these attempts, about ten minutes of work, were not enough.
 */
export const slowAttempts = 10;

/** A workflow that is stuck more often has another fault, which a reset does not repair. */
export const maxResetsADay = 5;
