// Reports the outcome of an operator's command: the event, its reason, and a remedy. These commands print errors themselves,
// because the command line formats only the API's errors.
import { RopewalkError } from '../domain/errors.ts';

export interface Said {
  /** A line of the result. */
  out: (text: string) => void;
  /** A machine-readable result. */
  json: (value: unknown) => void;
  /** Notes and errors. */
  err: (text: string) => void;
}

/** Returns the exit code: that of `work`, or 1 with an explanation. Rethrows an unexpected error. */
export async function reporting(said: Said, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    said.err(`error: ${error.problem.message}`);
    if (error.problem.hint !== undefined) said.err(`  how to fix: ${error.problem.hint}`);
    return 1;
  }
}
