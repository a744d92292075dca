// Checks a job's files before anything is written, and reads the header of its script.
import { maxHeaderBytes, parseBatchHeader, type BatchHeader } from '../../domain/batch-header.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { findClash, findOwnClash, isFilePath } from '../../domain/file-path.ts';
import type { CreateJobParsed } from '../../schema/jobs.ts';
import { checkEnvironment } from '../environment-check.ts';
import { startOfBase64, type Base64Text, type JobBody } from './body.ts';

/** The header of the first file in the command that has one; an empty header when none has. */
export function readHeader({ command, files }: Pick<JobBody, 'command' | 'files'>): BatchHeader {
  let slurm: BatchHeader | undefined;
  const byPath = new Map(files.map((file) => [normalPath(file.path), file]));
  for (const path of new Set(command.map(normalPath))) {
    const start = startOf(byPath.get(path)?.content ?? '');
    // Contains a NUL, so it is not text.
    const header = start.includes('\0') ? noHeader : parseBatchHeader(start);
    if (header.options.length > 0 || header.problems.length > 0) {
      return { ...header, file: path, options: header.options.map((option) => ({ ...option, file: path })) };
    }
    if (header.slurm !== undefined) slurm ??= { ...header, file: path };
  }
  return slurm ?? noHeader;
}

/** The complete lines within the first `maxHeaderBytes` of a base64 file. */
function startOf(content: Base64Text): string {
  // Four characters encode three bytes.
  const chars = Math.ceil(maxHeaderBytes / 3) * 4;
  const text = Buffer.from(startOfBase64(content, chars), 'base64').toString('utf8');
  return content.length <= chars ? text : text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

const noHeader: BatchHeader = { options: [], problems: [] };

/** Refuses paths that cannot exist in a task's working directory, or would leave it. */
export function checkFiles(files: readonly { path: string }[]): void {
  for (const [index, { path }] of files.entries()) {
    const parts = normalPath(path).split('/');
    const field = `files.${index}.path`;
    if (parts.some((part) => part === '' || part === '.' || part === '..') || /[\\\p{Cc}]/u.test(path)) {
      const hint = 'Give a path below the working directory, with "/" between its parts, without "..".';
      throw invalid(field, `${field}: ${JSON.stringify(path)} does not stay in the task's working directory.`, hint);
    }
    if (!isFilePath(normalPath(path))) {
      const why = 'a name has at most 255 bytes in UTF-8, and no half of a surrogate pair';
      throw invalid(field, `${field}: ${JSON.stringify(path)} is no path of a file: ${why}.`);
    }
  }
  const paths = files.map(({ path }) => normalPath(path));
  const clash = findOwnClash(paths);
  if (clash === null) return;
  const field = `files.${clash.index}.path`;
  const path = JSON.stringify(files[clash.index]?.path);
  if (paths[clash.index] === clash.other) throw invalid(field, `${field}: ${path} is there twice.`);
  throw invalid(field, `${field}: ${path} lies below ${JSON.stringify(clash.other)}, which is a file itself.`);
}

/** Refuses input files whose paths clash with other files of the job. `field`: the origin of input files that did not come with the request. */
export function checkInputFiles(
  inputFiles: readonly { path: string }[],
  files: readonly { path: string }[],
  field: 'inputFiles' | 'inputFilestore' = 'inputFiles',
): void {
  const paths = inputFiles.map(({ path }) => path);
  const others = files.map(({ path }) => normalPath(path));
  const clash = findOwnClash(paths) ?? findClash(paths, others);
  if (clash === null) return;
  const name = field === 'inputFiles' ? `inputFiles.${clash.index}.path` : field;
  const path = JSON.stringify(inputFiles[clash.index]?.path);
  const message = `${name}: ${path} cannot lie in one directory with ${JSON.stringify(clash.other)}, another file of the job.`;
  throw invalid(name, message, 'Give each file a path of its own, and none below the path of another file.');
}

/** A NUL cannot be passed to a process. */
export function checkWords({ command, ...environment }: Pick<CreateJobParsed, 'command' | 'env' | 'secretEnv'>): void {
  for (const [index, word] of command.entries()) {
    if (word.includes('\0'))
      throw invalid(`command.${index}`, `command.${index}: a word cannot contain a NUL character.`);
  }
  if (command[0] === '') throw invalid('command.0', 'command.0: the first word names the program; it is empty.');
  checkEnvironment(environment);
}

/** Refuses inputs that would fail only after the launch: a command line in one word, "-", and a script with DOS line breaks. */
export function checkProgramName({
  command,
  files,
  inputFiles,
}: Pick<JobBody, 'command' | 'files' | 'inputFiles'>): void {
  const [first = ''] = command;
  const script = files.find(({ path }) => normalPath(path) === normalPath(first));
  if (script !== undefined && dosInterpreter.test(startOf(script.content))) {
    const message = `command.0: ${JSON.stringify(first.slice(0, 80))} has DOS line breaks: Linux finds no interpreter whose name ends with CR.`;
    throw invalid('command.0', message, `Convert it, for example with sed -i 's/\\r$//' FILE.`);
  }
  const isFile = [...files, ...inputFiles].some(({ path }) => normalPath(path) === normalPath(first));
  if (first === '-' && !isFile) {
    const message = 'command.0: "-" names no program, and no script is read from standard input.';
    throw invalid('command.0', message, 'Write the script to a file, and give its name.');
  }
  if (command.length > 1 || isFile || first.startsWith('/') || !/[\s|;&<>]/.test(first)) return;
  const message = `command.0: ${JSON.stringify(first.slice(0, 80))} names no program, and no shell reads a command.`;
  throw invalid('command.0', message, "Write its words one by one, or let a shell read it: sh -c 'COMMAND LINE'.");
}

const dosInterpreter = /^#![^\n]*\r\n/;

export const normalPath = (path: string): string => path.replace(/^(?:\.\/)+/, '');

const invalid = (field: string, message: string, hint?: string) =>
  new RopewalkError({ code: 'VALIDATION', field, message, ...(hint === undefined ? {} : { hint }) });
