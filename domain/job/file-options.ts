// Options for a job's input files from a filestore, and for its tasks' output files.
import { flag, invalid, type KnownOptions } from './header-values.ts';

/** Names of filestores; lower case, because they are part of object keys. */
export const filestoreSyntax = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** The fields of POST /v1/jobs that this file uses, by structure. */
export interface FilesInput {
  storeFiles?: boolean | undefined;
  pipeToFiles?: boolean | undefined;
  inputFilestore?: string | undefined;
  outputFilestore?: string | undefined;
}

export interface FileOptions {
  /** Keeps the files that tasks create or change. */
  storeFiles: boolean;
  /** Keeps the output of tasks as files too. */
  pipeToFiles: boolean;
  inputFilestore: string | null;
  /** Null: files are kept with the job alone. */
  outputFilestore: string | null;
}

/** Merges fields over the header's options. Each option about output keeps the tasks' files. @throws RopewalkError VALIDATION */
export function readFileOptions(input: FilesInput, known: KnownOptions): FileOptions {
  const pipeToFiles = input.pipeToFiles === true || flag(known, 'pipe-to-files') === true;
  const outputFilestore = input.outputFilestore ?? filestore(known, 'output-filestore');
  return {
    storeFiles: input.storeFiles === true || pipeToFiles || outputFilestore !== null,
    pipeToFiles,
    inputFilestore: input.inputFilestore ?? filestore(known, 'input-filestore'),
    outputFilestore,
  };
}

function filestore(known: KnownOptions, name: string): string | null {
  const option = known.get(name);
  if (option === undefined) return null;
  if (filestoreSyntax.test(option.value)) return option.value;
  throw invalid(
    option,
    'is not the name of a filestore',
    'Use lower-case letters, digits, ".", "_" and "-", at most 100.',
  );
}
