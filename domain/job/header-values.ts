// Parses values of a script's header. Each error names the file and the line.
import type { HeaderOption } from '../batch-header.ts';
import { RopewalkError } from '../errors.ts';

/** The last occurrence of each option. */
export type KnownOptions = ReadonlyMap<string, HeaderOption>;

/** Undefined when the header lacks the option. */
export function integer(
  known: KnownOptions,
  name: string,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const option = known.get(name);
  if (option === undefined) return undefined;
  const value = /^-?\d{1,15}$/.test(option.value) ? Number(option.value) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  throw invalid(option, 'needs a whole number', `Give a number ${range}.`);
}

/** An option without a value is true; undefined when the header lacks it. */
export function flag(known: KnownOptions, name: string): boolean | undefined {
  const option = known.get(name);
  if (option === undefined) return undefined;
  const value = parseFlag(option.value);
  if (value !== null) return value;
  throw invalid(option, 'is neither true nor false', 'An option that stands alone says yes.');
}

/** An option without a value is true. Python's `True` counts like `true`. Null for any other value. */
export function parseFlag(value: string): boolean | null {
  const text = value.toLowerCase();
  if (['', 'true', '1'].includes(text)) return true;
  return ['false', '0'].includes(text) ? false : null;
}

/** Adds the script's line to a parser's error. */
export function atLine<T>(option: HeaderOption, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    const message = `${placeOf(option)}: ${error.problem.message}`;
    throw new RopewalkError({ ...error.problem, message, field: fieldOf(option.name) }, { cause: error });
  }
}

const placeOf = ({ line, file = 'the script' }: HeaderOption): string => `Line ${line} of ${file}`;

export function invalid(option: HeaderOption, what: string, hint: string): RopewalkError {
  const message = `${placeOf(option)}: ${option.name} ${what}`;
  const comment = /\s#/.test(option.value) ? ' The value is the whole rest of the line: no comment can follow it.' : '';
  return new RopewalkError({ code: 'VALIDATION', message, field: fieldOf(option.name), hint: hint + comment });
}

export function bothNamed(message: string, field: string): RopewalkError {
  return new RopewalkError({ code: 'VALIDATION', message, field, hint: 'Keep one of the two.' });
}

/** Converts `max-workers`, as in the header, to `maxWorkers`, as in the API. */
export function fieldOf(option: string): string {
  return option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
