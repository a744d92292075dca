// Lifetimes of tokens, links and sessions.

/** Instance tokens expire after this, and answers renew them after half of it. */
export const instanceTokenTtlMs = 2 * 3_600_000;
export const launchTokenTtlMs = 24 * 3_600_000;
/** An instance can renew its expired token for this long, because a laptop may sleep over a holiday. */
export const expiredTokenGraceMs = 30 * 86_400_000;

/** A link to a dashboard is opened at once or requested again; its session lasts a working day. */
export const dashboardLinkTtlMs = 5 * 60_000;
export const dashboardSessionTtlMs = 8 * 3_600_000;

/**
 * A revoked token is refused everywhere after `tokenMaxAgeMs`, the age at which a process reads it again. A stream or a dashboard checks its token
 * every `accessCheckEveryMs`, so it ends within `revocationEffectiveWithinMs`.
 */
export const revocationEffectiveWithinMs = 3_500;
export const tokenMaxAgeMs = 1_000;
export const accessCheckEveryMs = 2_000;
