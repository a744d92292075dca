// An instance that has not registered in time, as its checks find it.

export interface Lateness {
  /** In a row, in which the API answered and had not heard the agent since the check before. */
  checks: number;
  /** When the API heard its agent, as the last check found it; absent until it has. */
  heardAtMs?: number;
  nextMs: number;
  underWay: boolean;
}
