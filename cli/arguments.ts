// Parsers of numbers, times and pairs on the command line. Commander names the option in the error, exit code 2.
import { InvalidArgumentError } from 'commander';

/** A job or cluster by number or name; references.ts finds its number. */
export type Reference = number | string;

/** Digits are always a number, even when a name consists of digits. */
export function parseReference(text: string): Reference {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  if (!/^\d+$/.test(text) && /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError('Give the number of a job or cluster, for example 12, or its name.');
}

/** A path; an empty one usually comes from an unset variable of a script. */
export function parsePath(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give a path. It is empty: is a variable of your script not set?');
}

export function parseCount(text: string): number {
  if (/^-?\d{1,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

export function parseWorkers(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of workers, for example 4.');
}

/** `4`, or `4,20` for a range. */
export function parseWorkerRange(text: string): number | [number, number] {
  const [, first, last] = /^\[?\s*(\d{1,4})(?:\s*,\s*(\d{1,4}))?\s*\]?$/.exec(text) ?? [];
  if (first !== undefined) return last === undefined ? Number(first) : [Number(first), Number(last)];
  throw new InvalidArgumentError('Give a number of workers, for example 4, or a range: 4,20.');
}

/** A limit; 0 allows none. */
export function parseAmount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number, 0 or more.');
}

export function parseLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number from 1 to 999999.');
}

/** Number of a job or cluster. */
export function parseNumber(text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give the number of a job or cluster, for example 12.');
}

export function parsePercent(text: string): number {
  const percent = /^\d{1,3}\s*%?$/.test(text) ? Number.parseInt(text, 10) : 0;
  if (percent >= 1 && percent <= 100) return percent;
  throw new InvalidArgumentError('Give a percentage from 1 to 100.');
}

/** US dollars: `5`, `$12.50`. */
export function parseDollars(text: string): number {
  const dollars = /^\$?\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text.replace('$', '')) : 0;
  if (dollars > 0) return dollars;
  throw new InvalidArgumentError('Give an amount of US dollars, for example 12.50.');
}

/** In milliseconds. Only for waits of this program: the server parses all other durations. */
export function parseTimeout(text: string): number {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?)\s*(s|m|h)?$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (unitMs[unit ?? 's'] ?? 0);
  throw new InvalidArgumentError('Give seconds, or for example 90s, 5m, 1h.');
}

/** A time, or an age such as 10m. */
export function parseSince(text: string): Date {
  const ago = /^(\d{1,9})\s*(s|m|h|d)$/.exec(text);
  if (ago !== null) return new Date(Date.now() - Number(ago[1]) * (unitMs[ago[2] ?? 's'] ?? 0));
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Give a time (2026-01-31T12:00) or an age (10m, 2h).');
  return time;
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `12,13`; repeated, they add up. */
export function parseNumbers(text: string, before: number[] = []): number[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => /^[1-9]\d{0,11}$/.test(part))) return [...before, ...parts.map(Number)];
  throw new InvalidArgumentError('Give numbers of jobs, for example 12 or 12,13.');
}

/** For options that can be repeated. */
export function collect(text: string, before: string[] = []): string[] {
  return [...before, text];
}
