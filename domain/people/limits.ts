// Limits for the people of one workspace. They are constants, far above a team's needs, and stop runaway scripts.

export const maxUsersPerWorkspace = 10_000;

/** Maximum tokens of one user: valid ones, and those that ended within `endedTokenCountsForMs`. */
export const maxTokensPerUser = 10_000;

/** An ended token counts for this long, so a loop that issues and revokes tokens reaches the limit. */
export const endedTokenCountsForMs = 3_600_000;

/** A revoked or expired token is deleted after this time; until then lists show it. */
export const deleteEndedTokenAfterMs = 30 * 86_400_000;

/** Sign-in on a device: the lifetime of its code, the interval of its polls, and the number of wrong codes that a person may type. */
export const deviceLoginTtlMs = 600_000;
export const deviceLoginIntervalMs = 2_000;
export const maxWrongUserCodes = 10;
/** Sign-in with the identity provider: the time for it, and the time for the page to fetch its token afterwards. */
export const signInTtlMs = 600_000;
export const signedInTtlMs = 60_000;
/** Sign-in by a link in an e-mail: the lifetime of a link. */
export const mailLinkTtlMs = 900_000;
/** Maximum number of links for one address, and for all addresses, in an hour of the clock: they bound what a stranger can make the mail server send. */
export const maxMailLinksOfAddress = 10;
export const maxMailLinks = 1_000;
/** Maximum number of requests for links from one place within an hour, for any address and for one: one place alone cannot use up an address's links. */
export const maxMailLinksFromPlace = 30;
export const maxMailLinksOfAddressFromPlace = 4;
export const mailLinkRateMs = 3_600_000;
/** Maximum number of requests for links that an API process works on at a time. */
export const maxMailLinksUnderWay = 200;
/** Lifetime of a device's token: default and maximum. */
export const defaultDeviceTokenMs = 30 * 86_400_000;
export const maxDeviceTokenMs = 365 * 86_400_000;
/** Maximum number of pending logins that one API process has begun; they need no token, so anyone can begin one. */
export const maxDeviceLogins = 1_000;
/** Maximum number of them from one address within `deviceLoginTtlMs`: enough for an office behind one address, not for a flood. */
export const maxDeviceLoginsOfAddress = 60;
/**
 * Maximum number of the identity provider's answers from one address within the same time; each causes an exchange with the provider, and a refused
 * person retries a few times.
 */
export const maxSignInsOfAddress = 300;
