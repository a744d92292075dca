// Bounds of admissions.

/** An idempotency key is remembered this long: the same as Stripe's. */
export const idempotencyTtlMs = 24 * 3_600_000;
