// How stuck workflows are found and reset.

/** Milliseconds between two checks. */
export const stuckCheckEveryMs = 60_000;

/** Workflow tasks fail once or twice for many reasons; from this attempt on, the workflow is stuck. */
export const stuckAttempts = 3;

/** A workflow that is stuck more often has another fault, which a reset does not mend. */
export const maxResetsADay = 5;
