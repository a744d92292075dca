// Bounds on the people of one workspace. They are settings of the code, far above what a team needs: they stop a runaway script.

export const maxUsersPerWorkspace = 10_000;

/** Tokens of one user that work or have ended within `endedTokenCountsForMs`. */
export const maxTokensPerUser = 10_000;

/** An ended token counts for this long, so that a loop that issues and revokes tokens meets the bound. */
export const endedTokenCountsForMs = 3_600_000;

/** A token that was revoked or has expired is deleted after this time; until then lists show it. */
export const deleteEndedTokenAfterMs = 30 * 86_400_000;
