// The report of a Dask scheduler.

/** The scheduler's latest figures, sent by the agent of the head instance. */
export interface SchedulerReport {
  tasks: { processing: number; waiting: number; memory: number; erred: number; noWorker: number };
  clients: number;
  /** How long nothing has been computed; null while a task is computed. */
  idleForMs: number | null;
  /** The scheduler's target number of workers; null when it has none. */
  adaptiveTarget: number | null;
  workers: { name: string; status: string; processing: number }[];
  /** Absent where the cluster's creator allows no usage data, and until there is some. */
  usage?: Usage | undefined;
}

/** Computations since the scheduler started: numbers by names of functions and types, without keys, data or messages. */
export interface Usage {
  groups?:
    | { name: string; tasks: number; erred: number; computeSeconds: number; transferSeconds: number }[]
    | undefined;
  exceptions?: { type: string; count: number }[] | undefined;
  memory?: { usedBytes: number; limitBytes: number } | undefined;
}
