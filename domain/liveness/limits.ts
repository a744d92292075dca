// Limits of silence between agents and the API.

/** An agent that the API has not heard for this long is suspected: three of its signs of life are missing. */
export const silentAfterMs = 120_000;
/** Agents of jobs send a sign of life this often; the API keeps it. */
export const aliveEveryMs = 40_000;

/** The API answers a poll for orders after this long: proxies and load balancers close connections that are idle for 60 s. */
export const maxHeldMs = 50_000;

/** An agent's request that hangs is aborted after this (the API answers within 10 s), and retried after a pause. */
export const agentAttemptMs = 20_000;
export const agentMaxPauseMs = 5_000;

/**
 * An agent that has had no answer for this long ends its work, so that nothing runs forever after its control plane is gone. Longer
 * than any restart or upgrade; a longer outage costs the work under way, never results on record.
 */
export const defaultWatchdogTimeoutMs = 30 * 60_000;
export const minWatchdogTimeoutMs = 5_000;
export const maxWatchdogTimeoutMs = 7 * 86_400_000;
