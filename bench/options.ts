// What the flags of `npm run bench` become; each bench reads what concerns it.
export interface BenchOptions {
  rounds: number | undefined;
  /** A tenth of everything: to see that a bench works, not to measure. */
  small: boolean;
  /** Of `idle`. */
  clusters: number | undefined;
  /** Of `tasks`: measures one job of so many tasks instead. */
  tasks: number | undefined;
  /** How many jobs `burst`, `creates` and `restart` have, and how long the histories of `restart` are. */
  jobs: number | undefined;
  events: number | undefined;
  /** Of `watchers`: how many streams are open. */
  watchers: number | undefined;
}
