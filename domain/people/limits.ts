// Bounds on the people of one workspace. They are settings of the code, far above what a team needs: they stop a runaway script.

export const maxUsersPerWorkspace = 10_000;

/** Tokens of one user that work or have ended within `endedTokenCountsForMs`. */
export const maxTokensPerUser = 10_000;

/** An ended token counts for this long, so that a loop that issues and revokes tokens meets the bound. */
export const endedTokenCountsForMs = 3_600_000;

/** A token that was revoked or has expired is deleted after this time; until then lists show it. */
export const deleteEndedTokenAfterMs = 30 * 86_400_000;

/** Signing in on a device: how long its code works, how often the device asks, and how many wrong codes a person may type. */
export const deviceLoginTtlMs = 600_000;
export const deviceLoginIntervalMs = 2_000;
export const maxWrongUserCodes = 10;
/** Signing in at the identity provider: how long it may take, and how long the page may take to fetch its token afterwards. */
export const signInTtlMs = 600_000;
export const signedInTtlMs = 60_000;
/** How long the token of a device works: by default, and at most. */
export const defaultDeviceTokenMs = 30 * 86_400_000;
export const maxDeviceTokenMs = 365 * 86_400_000;
/** Pending logins that one API process has begun: they need no token, so anyone can begin one. */
export const maxDeviceLogins = 1_000;
/** Of them from one address within `deviceLoginTtlMs`: an office behind one address, not a flood. */
export const maxDeviceLoginsOfAddress = 60;
/** Answers of the identity provider from one address within the same time, each an exchange with it: a person who is refused tries some times. */
export const maxSignInsOfAddress = 300;
