// How long tokens, links and sessions work.

/** Instance tokens expire after this, and are renewed in answers when half of it has passed. */
export const instanceTokenTtlMs = 2 * 3_600_000;
export const launchTokenTtlMs = 24 * 3_600_000;
/** An instance can renew its expired token for this long: a laptop that slept over a holiday is no outage. */
export const expiredTokenGraceMs = 30 * 86_400_000;

/** A link to a dashboard is opened at once or requested again; the session that it opens lasts a working day. */
export const dashboardLinkTtlMs = 5 * 60_000;
export const dashboardSessionTtlMs = 8 * 3_600_000;

/**
 * A revoked token is refused everywhere after `tokenMaxAgeMs`, the age at which a process reads it again. A stream or a dashboard
 * checks its token every `accessCheckEveryMs`, and so ends within `revocationEffectiveWithinMs`.
 */
export const revocationEffectiveWithinMs = 3_500;
export const tokenMaxAgeMs = 1_000;
export const accessCheckEveryMs = 2_000;
