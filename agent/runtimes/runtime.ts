// A runtime, prepared on this instance: how commands run in it. Batch tasks and Dask processes use the same interface, so a new
// kind of runtime is one implementation of it and a case in prepare.ts.
import type { Command, RunningCommand, StartOptions } from '../processes/start-process.ts';

export type Variables = Record<string, string | undefined>;

export interface Runtime {
  /** The Python interpreter of the runtime, as the first word of a command. */
  python: string;
  /**
   * The environment variables of a command: `inherited` from the agent, then the specification's `own`, then those that the
   * runtime requires.
   */
  variables: (inherited: Variables, own: Record<string, string>) => Record<string, string>;
  /** Rejects, with nothing left running, when the command does not start. */
  start: (command: Command, options: StartOptions) => Promise<RunningCommand>;
}
