// What a Dask scheduler says of itself.

/** What the scheduler last said of itself, through the agent of the head instance. */
export interface SchedulerReport {
  tasks: { processing: number; waiting: number; memory: number; erred: number; noWorker: number };
  clients: number;
  /** How long nothing has been computed, or null while something is. */
  idleForMs: number | null;
  /** Workers that Dask would like to have, or null when it cannot say. */
  adaptiveTarget: number | null;
  workers: { name: string; status: string; processing: number }[];
  /** Absent where the cluster's creator allows no kind of it, and until there is any. */
  usage?: Usage | undefined;
}

/** What was computed since the scheduler started: numbers by names of functions and types, no keys, data or messages. */
export interface Usage {
  groups?:
    | { name: string; tasks: number; erred: number; computeSeconds: number; transferSeconds: number }[]
    | undefined;
  exceptions?: { type: string; count: number }[] | undefined;
  memory?: { usedBytes: number; limitBytes: number } | undefined;
}
