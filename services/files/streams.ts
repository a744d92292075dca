// Limits the files that pass through one API process at a time. Each holds a connection and an open file.
import { RopewalkError } from '../../domain/errors.ts';

export interface FileStreams {
  /** @throws RopewalkError TOO_BUSY at the maximum number of streams. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createFileStreams(max: number): FileStreams {
  let open = 0;
  return {
    async run(work) {
      if (open >= max) {
        throw new RopewalkError(
          { code: 'TOO_BUSY', message: `This process receives ${max} files already.`, hint: 'Try again.' },
          { retryAfterMs: 1_000 },
        );
      }
      open += 1;
      try {
        return await work();
      } finally {
        open -= 1;
      }
    },
  };
}
