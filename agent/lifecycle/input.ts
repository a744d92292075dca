// An agent's input, passed on to its work: a job's tasks or a Dask process.
import type { Boot } from './boot.ts';
import type { Log } from '../logs/log.ts';
import type { Logs } from '../logs/logs.ts';
import type { TaskUser } from '../processes/task-user.ts';
import type { RegistryLogin } from '../runtimes/container/registry-login.ts';

/** The cloud's notice for this instance: its end at that time, or a risk of it since then. */
export interface Notice {
  kind: 'terminate' | 'rebalance';
  /** RFC 3339. */
  at: string;
}

export interface AgentInput {
  instance: string;
  /** Random per agent process: the API assigns an instance's name to the first one. */
  bootId: string;
  boot: Boot;
  directory: string;
  logs: Logs;
  /** The agent's own variables, chosen by its provider. runtimes/inherited-variables.ts decides which ones others inherit. */
  environment: Record<string, string | undefined>;
  log: Log;
  /** The user of tasks and Dask processes; null for the agent's own user. */
  user: TaskUser | null;
  /** Calls back when the cloud is about to take this instance, until the agent stops; absent without a cloud. */
  watchNotices?: (onNotice: (notice: Notice) => void) => void;
  /** Login to the registries of the instance's cloud; absent where there is none. */
  registryLogin?: RegistryLogin;
  /** Aborted with a stop order by signals, tombstones and answers alike. */
  stopping: AbortController;
}
