// A text file in an option's value.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { UsageError } from './errors.ts';

/** Throws UsageError with the option when the file cannot be read. */
export const readTextFile = (option: string, path: string, cwd: string): Promise<string> =>
  readFile(resolve(cwd, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${option}: cannot read ${path}: ${error.code ?? error.message}`);
  });
