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
}
