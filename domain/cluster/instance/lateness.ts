// The checks of an instance that has not registered.

export interface Lateness {
  /** Consecutive checks during which the API answered and had not heard the agent since the previous check. */
  checks: number;
  /** When the API heard its agent, according to the last check; absent until then. */
  heardAtMs?: number;
  nextMs: number;
  underWay: boolean;
}
