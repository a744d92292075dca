// How stuck workflows are found and reset.

/**
 * Milliseconds between two checks: the delay of a reset. A job or cluster loses nothing meanwhile, since its agents work on and keep their
 * results; each check leaves a closed workflow in the namespace for its retention.
 */
export const stuckCheckEveryMs = 5 * 60_000;

/** Workflow tasks fail once or twice for many reasons; from this attempt on, the workflow is stuck. */
export const stuckAttempts = 3;

/** A workflow that is stuck more often has another fault, which a reset does not mend. */
export const maxResetsADay = 5;
