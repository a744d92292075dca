// The tasks of a job: a number, array syntax, or one for each input. The request overrides the header, whichever form each uses.
import { RopewalkError } from '../errors.ts';
import type { JobArray } from './array.ts';
import { arrayOfCount, parseArray } from './array.ts';
import { atLine, bothNamed, integer, type KnownOptions } from './header-values.ts';
import { countInputs, readInputs, type MapOver, type TaskInputs } from './inputs.ts';

export interface TaskListInput {
  ntasks?: number | undefined;
  /** Array syntax; `%N` at its end limits the tasks that run at a time to N. */
  array?: string | undefined;
  mapOver?: MapOver | undefined;
}

export interface TaskList {
  array: JobArray;
  inputs: TaskInputs | null;
  /** Maximum number of tasks that run at a time, from `%N`. */
  atOnce: number | null;
}

/** Throws VALIDATION naming the field, or the option with its line. */
export function readTaskList(input: TaskListInput, known: KnownOptions): TaskList {
  const { ntasks, array, mapOver } = input;
  const mapped = mapOver !== undefined && hasInputs(mapOver);
  if (ntasks !== undefined && array !== undefined) throw bothNamed('ntasks and array are both set', 'array');
  // `%N` alone names no tasks, only how many run at a time.
  if (mapped && array !== undefined && ntasks === undefined && /^\s*%/.test(array)) {
    const { ids, atOnce } = limitOf(array);
    if (ids.trim() === '') return { ...mappedList({ ...headerDetails(known), ...mapOver }), atOnce };
  }
  if (mapped && (ntasks ?? array) !== undefined)
    throw bothNamed(
      `${array === undefined ? 'ntasks' : 'array'} is set, and the job is mapped over inputs: it has a task for each; "%2" alone as array runs two of them at a time`,
      'mapOver',
    );
  if (mapped) return mappedList({ ...headerDetails(known), ...mapOver });
  if (array !== undefined) return arrayList(array);
  if (ntasks !== undefined) return plain(arrayOfCount(ntasks));
  return headerList(known, mapOver ?? {});
}

function headerList(known: KnownOptions, details: MapOver): TaskList {
  const [first, second] = ['ntasks', 'array', 'map-over-values'].flatMap((name) => known.get(name) ?? []);
  if (first !== undefined && second !== undefined)
    throw bothNamed(
      `the script sets both ${first.name} (line ${first.line}) and ${second.name} (line ${second.line})`,
      second.name,
    );
  if (first === undefined) {
    if (details.inputVar === undefined && details.delimiter === undefined) return plain(arrayOfCount(1));
    throw new RopewalkError({
      code: 'VALIDATION',
      message: 'mapOver: a name for the input, or a delimiter, is given without values.',
      field: 'mapOver',
      hint: 'Give values too, with --map-over-values or --map-over-file.',
    });
  }
  if (first.name === 'array') return atLine(first, () => arrayList(first.value));
  if (first.name === 'map-over-values')
    return atLine(first, () => mappedList({ ...headerDetails(known), ...details, values: first.value }));
  const tasks = integer(known, 'ntasks', 1) ?? 1;
  return atLine(first, () => plain(arrayOfCount(tasks)));
}

const hasInputs = ({ values, fileContent, variables, list }: MapOver): boolean =>
  [values, fileContent, variables, list].some((each) => each !== undefined);

function headerDetails(known: KnownOptions): Pick<MapOver, 'delimiter' | 'inputVar'> {
  const delimiter = known.get('map-over-delimiter')?.value;
  const inputVar = known.get('map-over-input-var')?.value;
  return { ...(delimiter === undefined ? {} : { delimiter }), ...(inputVar === undefined ? {} : { inputVar }) };
}

function mappedList(mapOver: MapOver): TaskList {
  const inputs = readInputs(mapOver);
  return { ...plain(arrayOfCount(countInputs(inputs), 'mapOver')), inputs };
}

function arrayList(syntax: string): TaskList {
  const { ids, atOnce } = limitOf(syntax);
  return { ...plain(parseArray(ids)), atOnce };
}

function limitOf(syntax: string): { ids: string; atOnce: number | null } {
  const limited = /^([^%]*)%\s*(\d{1,9})\s*$/.exec(syntax);
  if (limited === null) return { ids: syntax, atOnce: null };
  const atOnce = Number(limited[2]);
  if (atOnce >= 1) return { ids: limited[1] ?? '', atOnce };
  throw new RopewalkError({
    code: 'VALIDATION',
    message: 'array: "%0" lets no task run',
    field: 'array',
    hint: 'Give at least %1.',
  });
}

const plain = (array: JobArray): TaskList => ({ array, inputs: null, atOnce: null });
