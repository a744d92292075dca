// Bounds of admissions.

/** An idempotency key is remembered this long: the same as Stripe's. */
export const idempotencyTtlMs = 24 * 3_600_000;

/**
 * Jobs and clusters that have started and not ended, on one host. Each has an instance while it works, so that more than the host
 * has instances could only wait. A quarter more is ready when an instance ends.
 */
export const maxOpenOnHost = (maxInstances: number): number => maxInstances + Math.ceil(maxInstances / 4);
