// Maps a job over inputs: one task for each value, which the task finds in its environment. Values are passed byte for byte. They are sealed with the
// command, so no error contains one.
import { RopewalkError } from '../errors.ts';
import { maxTasks } from './limits.ts';
import { indicesOf, setOf } from './task-set.ts';

/** A list of inputs in the object store: on each line the JSON of a value, or of the variables of a task. */
export interface InputList {
  sha256: string;
  bytes: number;
  /** Number of lines. */
  count: number;
}

/** The caller's inputs: exactly one of `values`, `fileContent`, `variables` and `list`. */
export interface MapOver {
  /** A text is split at the delimiter, "," by default. A list is used unchanged. */
  values?: string | readonly string[] | undefined;
  /** Split at the delimiter, by default into lines without their line ends; empty lines at the end are no values. */
  fileContent?: string | undefined;
  /** The environment variables of each task. */
  variables?: readonly Readonly<Record<string, string>>[] | undefined;
  /** Already split by the caller, so a delimiter has no effect. */
  list?: InputList | undefined;
  delimiter?: string | undefined;
  /** A variable for the value, in addition to the two of `inputVariables`. */
  inputVar?: string | undefined;
}

/** The variables of each task by index, in the compact form that agents receive. `chosen`: the lines of a retry (task-set.ts); null for all. */
export type TaskInputs =
  | { names: string[]; values: string[] }
  | { variables: Record<string, string>[] }
  | { names: string[]; list: InputList; chosen: string | null };

const inputVariables: readonly string[] = ['COILED_BATCH_TASK_INPUT', 'ROPEWALK_BATCH_TASK_INPUT'];

/** Maximum characters of a value: Linux accepts 128 KiB in one variable, at up to four bytes a character. */
const maxValueLength = 32 * 1024;

/** Throws VALIDATION, field `mapOver` or one of its fields. */
export function readInputs(mapOver: MapOver): TaskInputs {
  const { values, fileContent, variables, list: stored, delimiter, inputVar } = mapOver;
  if ([values, fileContent, variables, stored].filter((each) => each !== undefined).length !== 1)
    throw invalid(
      '',
      'give values, a file of values, the variables of each task, or a stored list: exactly one of them',
    );
  if (stored !== undefined) {
    checkCount(stored.count);
    return { names: namesFor(inputVar), list: stored, chosen: null };
  }
  if (variables !== undefined) {
    if (inputVar !== undefined || delimiter !== undefined)
      throw invalid('.variables', 'a name for the input, or a delimiter, is for values, not for variables');
    checkCount(variables.length);
    return { variables: variables.map((each, index) => checkVariables(each, index)) };
  }
  const split = delimiter === undefined ? undefined : readDelimiter(delimiter);
  const list = fileContent === undefined ? splitValues(values ?? [], split) : splitFile(fileContent, split);
  checkCount(list.length);
  for (const [index, value] of list.entries()) checkValue(value, `the value of task ${index}`);
  return { names: namesFor(inputVar), values: list };
}

function namesFor(inputVar: string | undefined): string[] {
  const own = inputVar === undefined ? [] : [checkName(inputVar, '.inputVar')];
  return [...new Set([...inputVariables, ...own])];
}

export function countInputs(inputs: TaskInputs): number {
  if ('list' in inputs) return inputs.list.count;
  return 'values' in inputs ? inputs.values.length : inputs.variables.length;
}

/** The inputs of a retry, which runs the tasks of `indices` (ascending). */
export function chooseInputs(inputs: TaskInputs, indices: readonly number[]): TaskInputs {
  if ('variables' in inputs) return { variables: indices.map((index) => inputs.variables[index] ?? {}) };
  if ('values' in inputs) return { ...inputs, values: indices.map((index) => inputs.values[index] ?? '') };
  // The retried job may itself be a retry.
  const before = inputs.chosen === null ? null : indicesOf(inputs.chosen);
  const lines = before === null ? indices : indices.map((index) => before[index] ?? inputs.list.count);
  return { ...inputs, chosen: setOf(lines, inputs.list.count) };
}

function splitValues(values: string | readonly string[], delimiter = ','): string[] {
  if (typeof values !== 'string') return [...values];
  return values === '' ? [] : values.split(delimiter);
}

function splitFile(content: string, delimiter?: string): string[] {
  const text = content.replace(/^\uFEFF/, '');
  const list = delimiter === undefined ? text.split(/\r?\n/) : text.split(delimiter);
  // Editors end the last line too, as does `find -print0`.
  const last = list.findLastIndex((value) => value !== '' && !(delimiter !== undefined && /^\r?\n$/.test(value)));
  return list.slice(0, last + 1);
}

/**
 * A shell passes `'
 * '` as two characters.
 */
function readDelimiter(written: string): string {
  const delimiter = written.replace(/\\([nrt0\\])/g, (_, letter: string) => escapes[letter] ?? letter);
  if (delimiter === '') throw invalid('.delimiter', 'is empty', 'Leave it out, or give for example ";" or "\\t".');
  return delimiter;
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', '0': '\0', '\\': '\\' };

function checkCount(count: number): void {
  if (count === 0) throw invalid('', 'there is no value, so no task', 'Give at least one value.');
  if (count > maxTasks) throw invalid('', `there are ${count} values; a job has at most ${maxTasks} tasks`);
}

function checkVariables(variables: Readonly<Record<string, string>>, index: number): Record<string, string> {
  for (const [name, value] of Object.entries(variables)) {
    checkName(name, `.variables.${index}`);
    checkValue(value, `${name} of task ${index}`);
  }
  return { ...variables };
}

function checkName(name: string, field: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw invalid(field, `${JSON.stringify(name.slice(0, 80))} is not a name of an environment variable`);
  if (/^(?:ROPEWALK|COILED)_/.test(name) && !inputVariables.includes(name))
    throw invalid(
      field,
      `Ropewalk sets ${name} itself`,
      'Choose a name that does not start with ROPEWALK_ or COILED_.',
    );
  return name;
}

function checkValue(value: string, what: string): void {
  if (value.includes('\0')) throw invalid('', `${what} has a NUL character, which no environment variable can hold`);
  if (!value.isWellFormed()) throw invalid('', `${what} has half of a surrogate pair, which is no character`);
  if (value.length <= maxValueLength) return;
  const hint = 'Put large inputs into files or a bucket, and map over their names.';
  throw invalid('', `${what} has ${value.length} characters; at most ${maxValueLength} fit`, hint);
}

function invalid(path: string, why: string, hint?: string): RopewalkError {
  const field = `mapOver${path}`;
  return new RopewalkError({
    code: 'VALIDATION',
    message: `${field}: ${why}.`,
    field,
    ...(hint === undefined ? {} : { hint }),
  });
}
