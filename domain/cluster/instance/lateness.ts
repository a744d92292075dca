// An instance that has not registered, as the checks of its provider and of the API find it.

export interface Lateness {
  /** In a row, in which the API answered and had not heard the agent since the check before. */
  checks: number;
  /** When the API heard its agent, as the last check found it; absent until it has. */
  heardAtMs?: number;
  nextMs: number;
  underWay: boolean;
}
