// The result of a bench: lines for people, and a JSON file for comparing runs.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';

import { summarise } from './statistics.ts';

export interface Report {
  /** A line of free text. */
  say: (line: string) => void;
  /** One measured value, or several of the same thing. */
  figure: (what: string, values: number | readonly number[], unit: string) => void;
  /** The ratio of two medians measured in this run. */
  ratio: (what: string, over: readonly number[], under: readonly number[]) => void;
}

export interface Figure {
  what: string;
  unit: string;
  values: number[];
}

export function createReport(print: (line: string) => void): Report & { figures: () => Figure[] } {
  const figures: Figure[] = [];
  const figure: Report['figure'] = (what, given, unit) => {
    const values = typeof given === 'number' ? [given] : [...given];
    figures.push({ what, unit, values });
    const { median, lowest, highest, count } = summarise(values);
    const spread = count === 1 ? '' : `   (${shown(lowest)} to ${shown(highest)}, ${count} rounds)`;
    print(`  ${what.padEnd(58)} ${shown(median).padStart(9)} ${unit}${spread}`);
  };
  return {
    say: (line) => print(`  ${line}`),
    figure,
    ratio: (what, over, under) => figure(what, summarise(over).median / summarise(under).median, 'x'),
    figures: () => figures,
  };
}

/** Figures mean nothing without the machine and its other load. */
export function circumstances(): Record<string, unknown> {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' });
  return {
    at: new Date().toISOString(),
    commit: commit.trim(),
    cores: availableParallelism(),
    node: process.version,
    load: load(),
  };
}

export const load = (): string =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');

export async function writeResult(name: string, result: unknown): Promise<string> {
  const directory = join(import.meta.dirname, '..', 'node_modules', '.cache', 'ropewalk', 'bench');
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${name}-${Date.now()}.json`);
  await writeFile(path, `${JSON.stringify(result, null, 2)}\n`);
  return path;
}

const shown = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
