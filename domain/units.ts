// Parses and formats durations and sizes such as "20 minutes" or "8 GiB", with the meaning that Dask gives them. Pure: no clock, no locale.
import { RopewalkError } from './errors.ts';

/**
 * Parses a duration to whole milliseconds. A number, or a text without a unit, counts seconds; a unit alone means one of it ("hour"). Throws
 * VALIDATION naming `field` when the value is invalid, negative or not finite.
 */
export function parseDurationMs(value: string | number, field = 'duration'): number {
  const { amount, unit } = split(value, field, durationHint);
  const sizeMs = unit === '' ? 1_000 : durationUnitsMs.get(unit);
  if (sizeMs === undefined) throw invalid(field, value, `"${unit}" is not a unit of time`, durationHint);
  return bounded(Math.round(amount * sizeMs), value, field, durationHint);
}

/**
 * Parses a size to whole bytes, rounded down: "5 kB" is 5,000, "8 GiB" is 8 * 2^30, a number counts bytes. Units ignore case, so "5KB" is 5,000 too.
 * Throws VALIDATION naming `field`.
 */
export function parseBytes(value: string | number, field = 'bytes'): number {
  const { amount, unit } = split(value, field, bytesHint);
  const size = unit === '' ? 1 : byteUnits.get(unit);
  if (size === undefined) throw invalid(field, value, `"${unit}" is not a unit of size`, bytesHint);
  return bounded(Math.floor(amount * size), value, field, bytesHint);
}

/** Short form, two units at most: `850 ms`, `12.3 s`, `3 m 20 s`, `2 h 5 m`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 59_950) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** For sentences, exact and in the largest units: `20 minutes`, `1 hour 30 minutes`, `1 minute 30.5 seconds`. */
export function spellDuration(ms: number): string {
  let rest = Math.max(0, Math.round(ms));
  const parts: string[] = [];
  for (const [noun, size] of spelledUnits) {
    const count = noun === 'second' ? rest / size : Math.floor(rest / size);
    if (count > 0) parts.push(plural(count, noun));
    rest -= Math.floor(count) * size;
  }
  return parts.length === 0 ? '0 seconds' : parts.join(' ');
}

/** Binary units in Dask's format: `512 B`, `1.50 kiB`, `8.00 GiB`. */
export function formatBytes(bytes: number): string {
  for (const [name, size] of printedUnits) {
    if (bytes >= size * 0.9) return `${(bytes / size).toFixed(2)} ${name}`;
  }
  return `${bytes} B`;
}

const durationHint = 'Write for example "20 minutes", "1 hour", "90s", or a number of seconds.';
const bytesHint = 'Write for example "8 GiB", "64GB", "500 MB", or a number of bytes.';

const hour = 3_600_000;
const durationUnitsMs = new Map<string, number>([
  ...names(1e-6, 'ns', 'nanosecond', 'nanoseconds'),
  ...names(1e-3, 'us', 'microsecond', 'microseconds'),
  ...names(1, 'ms', 'millisecond', 'milliseconds'),
  ...names(1_000, 's', 'sec', 'secs', 'second', 'seconds'),
  ...names(60_000, 'm', 'min', 'mins', 'minute', 'minutes'),
  ...names(hour, 'h', 'hr', 'hrs', 'hour', 'hours'),
  ...names(24 * hour, 'd', 'day', 'days'),
  ...names(7 * 24 * hour, 'w', 'week', 'weeks'),
]);

const byteUnits = new Map<string, number>([['b', 1]]);
for (const [index, letter] of [...'kmgtp'].entries()) {
  for (const [name, size] of names(1_000 ** (index + 1), letter, `${letter}b`)) byteUnits.set(name, size);
  for (const [name, size] of names(1_024 ** (index + 1), `${letter}i`, `${letter}ib`)) byteUnits.set(name, size);
}

/** `1 instance`, `2 instances`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** E.g. "1 of 3 instances have registered". */
export const registeredText = (ready: number, instances: number): string =>
  `${ready} of ${plural(instances, 'instance')} ${instances === 1 ? 'has' : 'have'} registered`;

const spelledUnits: [string, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

const printedUnits: [string, number][] = [
  ['PiB', 2 ** 50],
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['kiB', 2 ** 10],
];

function names(size: number, ...all: string[]): [string, number][] {
  return all.map((name) => [name, size]);
}

const numberWithUnit = /^((?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)?([a-z]*)$/;
/** Maximum length of a value as written: a line of a script's header can be as long as the script. */
const maxWrittenChars = 100;

function split(value: string | number, field: string, hint: string): { amount: number; unit: string } {
  if (typeof value === 'string' && value.length > maxWrittenChars)
    throw invalid(field, value, `it has more than ${maxWrittenChars} characters`, hint);
  const text = String(value).replaceAll(' ', '').toLowerCase();
  const match = numberWithUnit.exec(text);
  if (text === '' || match === null) throw invalid(field, value, 'it is not a positive number with a unit', hint);
  return { amount: match[1] === undefined ? 1 : Number(match[1]), unit: match[2] ?? '' };
}

function bounded(result: number, value: string | number, field: string, hint: string): number {
  if (Number.isSafeInteger(result)) return result;
  throw invalid(field, value, 'it is too large', hint);
}

function invalid(field: string, value: string | number, why: string, hint: string): RopewalkError {
  const shown = JSON.stringify(String(value).slice(0, 80));
  return new RopewalkError({ code: 'VALIDATION', message: `${field}: cannot read ${shown}: ${why}`, field, hint });
}
