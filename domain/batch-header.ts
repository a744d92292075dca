// The comments at the top of a script that say how to run it: `# ROPEWALK ntasks 10`, or `# COILED ntasks 10`.
// This file only reads; what an option means, and whether it exists, is domain/job/settings.ts.
import { describeSlurmLines, describeSlurmVariables } from './slurm-lines.ts';

export interface HeaderOption {
  /** Lower case with dashes, aliases resolved: `n_tasks` and `--n-tasks` are `ntasks`, `-N` is `max-workers`. */
  name: string;
  /** As written, without surrounding quotes; empty for an option without a value. */
  value: string;
  /** Both counted from 1; the column is that of the option's name. */
  line: number;
  column: number;
  /** The script as the command names it. */
  file?: string;
}

export interface HeaderProblem {
  line: number;
  message: string;
}

export interface BatchHeader {
  /** In the order of the script. An option may be there more than once. */
  options: HeaderOption[];
  /** Lines that look like a header but were not read as one. */
  problems: HeaderProblem[];
  /** Which `#SBATCH` lines were not read, and which variables of Slurm are not set; absent when there is none. */
  slurm?: string[];
  /** The script as the command names it. */
  file?: string;
}

/** Header lines further down are not read: there they are more likely data than instructions. */
export const maxHeaderLine = 100;
/** A problem is reported for header lines down to this one. */
const maxSearchedLine = 1_000;
/** Nothing after so many bytes of a script is searched: its caller decodes no more. */
export const maxHeaderBytes = 64 * 1024;

/** Reads the header of a script. Never throws: any text is a script. */
export function parseBatchHeader(text: string): BatchHeader {
  const options: HeaderOption[] = [];
  const problems: HeaderProblem[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/, maxSearchedLine);
  for (const [index, content] of lines.entries()) {
    const header = headerLine.exec(content);
    if (header === null) continue;
    const line = index + 1;
    const rest = header[2] ?? '';
    const option = optionText.exec(rest.trim());
    if (line > maxHeaderLine) {
      problems.push({ line, message: `${header[1]} lines after line ${maxHeaderLine} are not read; move it up` });
    } else if (option === null) {
      problems.push({ line, message: `this ${header[1]} line names no option, so it was not read` });
    } else {
      const column = content.length - rest.trimStart().length + 1;
      options.push({ name: canonicalName(option[1] ?? ''), value: unquote(option[2] ?? ''), line, column });
    }
  }
  const unread = describeSlurmLines(lines.slice(0, maxHeaderLine), new Set(options.map(({ name }) => name)));
  const slurm = [unread, describeSlurmVariables(lines)].filter((each) => each !== null);
  return { options, problems, ...(slurm.length === 0 ? {} : { slurm }) };
}

// `[^]*` takes the rest of any line at once; `.*` stops at U+2028, and then takes quadratic time to fail.
// The marker is upper case on purpose: "# Coiled is what we used before" is prose. The comment must be the whole line.
const headerLine = /^\s*(?:#+|\/\/)\s*(ROPEWALK|COILED)(?![A-Za-z0-9_])[ \t]*:?([^]*)$/;
const optionText = /^(-[A-Za-z]|(?:--)?[A-Za-z][A-Za-z0-9_-]*)(?:\s*=\s*(?=\S)|\s+|=?$)([^]*)$/;

const aliases = new Map([
  ['n-tasks', 'ntasks'],
  ['max-retries', 'retries'],
  ['-N', 'max-workers'],
  ['-e', 'env'],
  ['-t', 'tag'],
]);

function canonicalName(written: string): string {
  const short = aliases.get(written);
  if (short !== undefined) return short;
  const name = written.replace(/^-+/, '').replaceAll('_', '-').toLowerCase();
  return aliases.get(name) ?? name;
}

function unquote(value: string): string {
  const text = value.trim();
  const quoted = /^(["'])(.*)\1$/.exec(text);
  return quoted?.[2] ?? text;
}
