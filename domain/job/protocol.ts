// The exchange between agents and their job: results for leases. One item per agent and request; the API merges the items of many agents into one
// update. schema/agent.ts has the same shapes for HTTP.

/** The code of a job's answer to the agent of a lost instance. */
export const instanceLost = 'INSTANCE_LOST';

/** The end of one attempt; the agent repeats it until it is acknowledged. */
export interface TaskResult {
  lease: number;
  task: number;
  attempt: number;
  exitCode: number | null;
  signal: string | null;
  startedAtMs: number;
  endedAtMs: number;
  /** Set when the agent could not run the command or had to end it. */
  reason: string | null;
}

export interface ExchangeItem {
  instance: string;
  /** Incremented with each new claim of this agent and unchanged when a claim is repeated, so a late copy is harmless. */
  claim: number;
  /** Number of leases wanted now; 0 for none. */
  want: number;
  /** Leases whose commands run; listing them renews them. */
  running: number[];
  /** Leases whose commands wait for their turn; listing them renews them too. Absent when there are none. */
  held?: number[] | undefined;
  /** Returned leases, whose commands never began. Absent when there are none. */
  returned?: number[] | undefined;
  results: TaskResult[];
  /** Whether this is the head instance, which is never released early. */
  head: boolean;
}

export interface Grant {
  lease: number;
  task: number;
  taskId: number;
  attempt: number;
}

export interface ExchangeAnswer {
  grants: Grant[];
  /** Leases whose results the agent may forget: recorded, repeated or stale. */
  acknowledged: number[];
  /** Leases that have ended: the agent must stop their work. */
  drop: number[];
  /** Set when there will be no more work here. */
  stop: { code: string; text: string } | null;
  /** When to ask again if nothing was granted. */
  retryAfterMs: number;
  /** Running leases must be renewed at least this often. */
  renewWithinMs: number;
  /** Maximum number of leases that the agent may hold now, with the running one. */
  mayHold: number;
  /** For a job that starts all at once: the number of instances, which a task finds in its environment. */
  gangSize?: number;
}
