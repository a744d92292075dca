// Limits of the silence between agents and the API.

/** An agent that the API has not heard for this long is suspected: it has missed three reports. */
export const silentAfterMs = 120_000;
/** Interval of the reports from a job's agents that only show that they are alive; the API stores them. */
export const aliveEveryMs = 40_000;

/** The API answers a poll for orders after this long, because proxies and load balancers close connections that are idle for 60 s. */
export const maxHeldMs = 50_000;

/** A hanging request of an agent is aborted after this (the API answers within 10 s), and retried after a pause. */
export const agentAttemptMs = 20_000;
export const agentFirstPauseMs = 100;
export const agentMaxPauseMs = 5_000;

/**
 * An agent without an answer for this long ends its work, so nothing runs forever without a control plane. Longer than any restart or upgrade; a
 * longer outage costs the work under way, never recorded results.
 */
export const defaultWatchdogTimeoutMs = 30 * 60_000;
export const minWatchdogTimeoutMs = 5_000;
export const maxWatchdogTimeoutMs = 7 * 86_400_000;
