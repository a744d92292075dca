// What a job's agents trade with their job: results for leases. One item per agent and request; the API merges items
// of many agents into one update. schema/agent.ts holds the same shapes for the wire.

/** The code with which a job answers an agent whose instance counts as lost. */
export const instanceLost = 'INSTANCE_LOST';

/** The end of one attempt, repeated by the agent until it is acknowledged. */
export interface TaskResult {
  lease: number;
  task: number;
  attempt: number;
  exitCode: number | null;
  signal: string | null;
  startedAtMs: number;
  endedAtMs: number;
  /** Set when the agent could not run or had to end the command itself. */
  reason: string | null;
}

export interface ExchangeItem {
  instance: string;
  /** Counts up by one with each new claim of this agent and stays when a claim is repeated, so that a late copy is harmless. */
  claim: number;
  /** Leases wanted now; 0 asks for nothing. */
  want: number;
  /** Leases whose commands run: this renews them. */
  running: number[];
  /** Leases whose commands wait for their turn: this renews them too. Left out when there are none. */
  held?: number[] | undefined;
  /** Leases handed back, whose commands never began. Left out when there are none. */
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
  /** Leases the agent must stop working on: they have ended. */
  drop: number[];
  /** No more work here, ever. */
  stop: { code: string; text: string } | null;
  /** When to ask again if nothing was granted. */
  retryAfterMs: number;
  /** Renew running leases at least this often. */
  renewWithinMs: number;
  /** How many leases the agent may hold now, with the running one. */
  mayHold: number;
  /** Of a job that starts all at once: how many instances a task must find in its environment. */
  gangSize?: number;
}
