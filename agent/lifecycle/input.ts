// What an agent is given at its start, and passes on to whatever it lives for: a job's tasks or a Dask process.
import type { Boot } from './boot.ts';
import type { Log } from '../logs/log.ts';
import type { Logs } from '../logs/logs.ts';
import type { TaskUser } from '../processes/task-user.ts';
import type { RegistryLogin } from '../runtimes/container/registry-login.ts';

/** What the cloud says will happen to this instance: its end at that time, or a risk of it since then. */
export interface Notice {
  kind: 'terminate' | 'rebalance';
  /** RFC 3339. */
  at: string;
}

export interface AgentInput {
  instance: string;
  /** Random per agent process: the API gives an instance's name to the first that comes. */
  bootId: string;
  boot: Boot;
  directory: string;
  logs: Logs;
  /** The agent's own, as its provider chose it. What others get of it is said in runtimes/inherited-variables.ts. */
  environment: Record<string, string | undefined>;
  log: Log;
  /** Runs tasks and Dask's processes; null where the agent's own user does. */
  user: TaskUser | null;
  /** Calls back when the cloud is about to take this instance, until the agent stops; absent where no cloud does. */
  watchNotices?: (onNotice: (notice: Notice) => void) => void;
  /** To registries of the instance's own cloud; absent where there is none. */
  registryLogin?: RegistryLogin;
  /** Aborted with a stop order by signals, tombstones and answers alike. */
  stopping: AbortController;
}
