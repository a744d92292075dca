// --map-over-values, --map-over-file and related options. The server splits the values; this file only reads them.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Command } from 'commander';

import type { CreateJob } from '../schema/jobs.ts';
import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';

export interface MapOverFlags {
  mapOverValues?: string;
  mapOverFile?: string;
  mapOverInputVar?: string;
  mapOverDelimiter?: string;
}

export const withMapOver = (command: Command): Command =>
  command
    .option('--map-over-values <values>', 'one task for each value: first,second,third')
    .option('--map-over-file <path>', 'one task for each line of a file')
    .option(
      '--map-over-input-var <name>',
      'variable for the value, beside ROPEWALK_BATCH_TASK_INPUT and COILED_BATCH_TASK_INPUT',
    )
    .option('--map-over-delimiter <text>', 'what separates values (default: "," and, in files, a new line)');

/** Undefined when no option was given. Throws UsageError. */
export async function mapOverOf(
  { cwd }: Pick<CliContext, 'cwd'>,
  { mapOverValues: values, mapOverFile, mapOverInputVar: inputVar, mapOverDelimiter: delimiter }: MapOverFlags,
): Promise<CreateJob['mapOver']> {
  if ([values, mapOverFile, inputVar, delimiter].every((each) => each === undefined)) return undefined;
  return {
    ...(values !== undefined && { values }),
    ...(mapOverFile !== undefined && { fileContent: await readValues(mapOverFile, cwd) }),
    ...(inputVar !== undefined && { inputVar }),
    ...(delimiter !== undefined && { delimiter }),
  };
}

async function readValues(path: string, cwd: string): Promise<string> {
  const bytes = await readFile(resolve(cwd, path)).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--map-over-file: cannot read ${path}: ${error.code ?? error.message}`);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(
      `--map-over-file: ${path} is not text in UTF-8, so its values would not arrive as they are`,
      'Convert it, for example with iconv -t utf-8.',
    );
  }
}
