// What an agent is given at its start, and passes on to whatever it lives for: a job's tasks or a Dask process.
import type { Boot } from './boot.ts';
import type { Log } from './log.ts';

export interface AgentInput {
  instance: string;
  /** Random per agent process: the API gives an instance's name to the first that comes. */
  bootId: string;
  boot: Boot;
  directory: string;
  logDirectory: string;
  /** The agent's own, as its provider chose it. What others get of it is said in environments.ts. */
  environment: Record<string, string | undefined>;
  log: Log;
  /** Aborted with a stop order by signals, tombstones and answers alike. */
  stopping: AbortController;
}
