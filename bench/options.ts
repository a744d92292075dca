// The parsed flags of `npm run bench`; each bench reads its own.
export interface BenchOptions {
  rounds: number | undefined;
  /** A tenth of everything: to check that a bench works, not to measure. */
  small: boolean;
  /** For `idle`. */
  clusters: number | undefined;
  /** For `tasks`: measures one job of this many tasks instead. */
  tasks: number | undefined;
  /** Number of jobs of `burst`, `creates` and `restart`, and length of the histories of `restart`. */
  jobs: number | undefined;
  events: number | undefined;
  /** For `watchers`: number of open streams. */
  watchers: number | undefined;
}
