// Reads the header of a script: comments at its top with options for the run, such as `# ROPEWALK ntasks 10` or `# COILED ntasks 10`. This file only
// parses; domain/job/settings.ts defines the options and their meanings.
import { describeSlurmLines, describeSlurmVariables } from './slurm-lines.ts';

export interface HeaderOption {
  /** Lower case with dashes, aliases resolved: `n_tasks` and `--n-tasks` are `ntasks`, `-N` is `max-workers`. */
  name: string;
  /** As written, without surrounding quotes; empty for an option without a value. */
  value: string;
  /** Both counted from 1; the column of the option's name. */
  line: number;
  column: number;
  /** The path of the script, as given on the command line. */
  file?: string;
}

export interface HeaderProblem {
  line: number;
  message: string;
}

export interface BatchHeader {
  /** In the order of the script. An option may occur more than once. */
  options: HeaderOption[];
  /** Lines that look like a header but were not parsed as one. */
  problems: HeaderProblem[];
  /** Unparsed `#SBATCH` lines and unset Slurm variables; absent when there are none. */
  slurm?: string[];
  /** The path of the script, as given on the command line. */
  file?: string;
}

/** Header lines after this line are ignored: they are more likely data than options. */
export const maxHeaderLine = 100;
/** Header lines down to this one are reported as problems. */
const maxSearchedLine = 1_000;
/** The limit of the search in bytes; callers decode no more than this. */
export const maxHeaderBytes = 64 * 1024;

/** Parses the header of a script. Never throws, because any text is a valid script. */
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

// `[^]*` matches the rest of any line at once; `.*` stops at U+2028, and then takes quadratic time to fail.
// The marker must be upper case, because "# Coiled is what we used before" is prose. The comment must be the whole line.
const headerLine = /^\s*(?:#+|\/\/)\s*(ROPEWALK|COILED)(?![A-Za-z0-9_])[ \t]*:?([^]*)$/;
const optionText = /^(-[A-Za-z]|(?:--)?[A-Za-z][A-Za-z0-9_-]*)(?:\s*=\s*(?=\S)|\s+|=?$)([^]*)$/;

const aliases = new Map([
  ['n-tasks', 'ntasks'],
  ['max-retries', 'retries'],
  ['-N', 'max-workers'],
  ['-e', 'env'],
  ['-t', 'tag'],
  // Coiled's header has no dash.
  ['n', 'max-workers'],
  ['e', 'env'],
  ['t', 'tag'],
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
