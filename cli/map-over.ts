// --map-over-values, --map-over-file and related options. The server splits values; a list that is too large for a request is split here.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Command } from 'commander';

import type { CreateJob } from '../schema/jobs.ts';
import type { CliContext } from './context.ts';
import { UsageError } from './errors.ts';
import { checkListBytes, listOf } from './input-list.ts';
import { readScriptHeader } from './script-header.ts';

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

/** A request has room for the command and files too. */
const maxSentBytes = 15 * 1024 ** 2;

export interface MappedJob {
  mapOver?: CreateJob['mapOver'];
  /** The content of `mapOver.list`, to be uploaded before the job is submitted. */
  list?: Buffer;
}

/** Empty when no option was given. `words`: the command, whose script may name the delimiter. Throws UsageError. */
export async function mapOverOf(
  context: Pick<CliContext, 'cwd' | 'env'>,
  words: readonly string[],
  { mapOverValues: values, mapOverFile, mapOverInputVar: inputVar, mapOverDelimiter: delimiter }: MapOverFlags,
): Promise<MappedJob> {
  if ([values, mapOverFile, inputVar, delimiter].every((each) => each === undefined)) return {};
  const fileContent = mapOverFile === undefined ? undefined : await readValues(mapOverFile, context.cwd);
  const named = inputVar === undefined ? {} : { inputVar };
  if (values === undefined && fileContent !== undefined && !fits(fileContent)) {
    const header = await readScriptHeader(words, new Set([delimiterOption]), context);
    const { list, content } = listOf(fileContent, delimiter ?? header.get(delimiterOption)?.at(-1));
    return { mapOver: { list, ...named }, list: content };
  }
  return {
    mapOver: {
      ...(values !== undefined && { values }),
      ...(fileContent !== undefined && { fileContent }),
      ...named,
      ...(delimiter !== undefined && { delimiter }),
    },
  };
}

export const storedListNote =
  'the values of --map-over-file do not fit in a request: they are uploaded to the object store, and not sealed';

const delimiterOption = 'map-over-delimiter';
/** JSON has no fewer bytes than its text; that of a large text may fit in no string. */
const fits = (text: string): boolean =>
  Buffer.byteLength(text) <= maxSentBytes && Buffer.byteLength(JSON.stringify(text)) <= maxSentBytes;

async function readValues(path: string, cwd: string): Promise<string> {
  const bytes = await readFile(resolve(cwd, path)).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--map-over-file: cannot read ${path}: ${error.code ?? error.message}`);
  });
  checkListBytes(bytes.length);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(
      `--map-over-file: ${path} is not text in UTF-8, so its values would not arrive as they are`,
      'Convert it, for example with iconv -t utf-8.',
    );
  }
}
