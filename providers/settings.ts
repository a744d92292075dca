// Reads the settings file of a cloud, named by its variable.
import { RopewalkError } from '../domain/errors.ts';

/**
 * Returns `read`'s result for the file at `path`.
 *
 * @throws RopewalkError VALIDATION with the message of `read`, which names the file and every problem in it.
 */
export function readSettings<T>(variable: string, path: string, read: (path: string) => T): T {
  try {
    return read(path);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const hint = `Set ${variable} to the file that the API and the Temporal worker read.`;
    throw new RopewalkError({ code: 'VALIDATION', message, hint }, { cause });
  }
}

/** The error for a region that is not in the settings; `document` explains how an operator adds one. */
export const unknownRegion = (region: string, known: Iterable<string>, document: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'region',
    message: `The region ${region} is not configured.`,
    hint: `Configured regions: ${[...known].join(', ')}. ${document} says how an operator adds one.`,
  });
