// Limits of admissions.

/** Lifetime of an idempotency key, the same as Stripe's. */
export const idempotencyTtlMs = 24 * 3_600_000;

/**
 * Maximum number of started and unended jobs and clusters on one host. Each needs an instance to work, so more of them than instances could only
 * wait. An extra quarter is ready when an instance ends.
 */
export const maxOpenOnHost = (maxInstances: number): number => maxInstances + Math.ceil(maxInstances / 4);
