// Selects and orders log lines for a terminal.
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';

import type { LogLine } from '../sdk/client.ts';
import { parseSince } from './arguments.ts';
import type { CliContext, ConnectionFlags } from './context.ts';
import { clean, toJson } from './output.ts';

type LogFormat = 'text' | 'detailed' | 'short' | 'json';

export interface LogFlags extends ConnectionFlags {
  filter?: RegExp;
  follow?: boolean;
  since?: Date;
  format: LogFormat;
}

/** The flags of a command without its connection flags, and the end or limit of the reading. */
export type Reading<F extends LogFlags> = Omit<F, keyof ConnectionFlags> & {
  signal: AbortSignal;
  /** Called with the id of the instance. */
  isWanted: (instance: string) => boolean;
};

/** The common options of all log commands' requests. */
export const requestOf = ({ output }: CliContext, { signal, follow, since }: Reading<LogFlags>) => ({
  signal,
  onUnreachable: (error: Error) => output.progress(`Retrying: ${error.message}`),
  ...(follow === true && { follow: true as const }),
  ...(since && { since }),
});

/** Prints the lines that the flags select, in the order of their times unless they are followed. */
export async function printLines(
  { output }: CliContext,
  lines: AsyncIterable<LogLine>,
  { filter, follow, format, isWanted }: Reading<LogFlags>,
  asText: (line: LogLine) => string | Promise<string>,
): Promise<void> {
  for await (const line of follow === true ? lines : inTimeOrder(lines)) {
    if (!isWanted(line.instance) || filter?.test(line.text) === false) continue;
    await output.outLine(format === 'text' ? await asText(line) : formats[format](line));
  }
}

/** `short` and `detailed` are those of `aws logs tail`, with times in UTC; a task's stream is below that of its instance. */
const formats: Record<Exclude<LogFormat, 'text'>, (line: LogLine) => string> = {
  json: toJson,
  short: ({ at, text }) => `${at.slice(0, 19)} ${clean(text)}`,
  detailed: ({ at, instance, task, text }) =>
    `${at.slice(0, 23)}000+00:00 ${instance}${task === null ? '' : `/task-${task}`} ${clean(text)}`,
};

/** `subject`: "the job", for the help. */
export const withLogOptions = (command: Command, subject: string): Command =>
  command
    .option('--filter <text>', 'only lines with this text; %regex% for a regular expression', parseFilter)
    .option('-f, --follow', `continue until ${subject} has ended`)
    .option('--since <time>', 'only lines since a time (2026-01-31T12:00) or an age (10m)', parseSince)
    .addOption(
      new Option(
        '--format <format>',
        'output format; detailed and short as aws logs tail has them; json is one object per line',
      )
        .choices(['text', 'detailed', 'short', 'json'])
        .default('text'),
    );

/** As in `aws logs tail --filter-pattern`: a text that lines contain, or `%regex%`. */
function parseFilter(text: string): RegExp {
  const regex = /^%(.+)%$/s.exec(text)?.[1];
  try {
    return new RegExp(regex ?? text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  } catch {
    throw new InvalidArgumentError(`${text} is no regular expression.`);
  }
}

/** Maximum lines that are sorted together; further lines keep the server's order, which is sorted within each task. */
const maxOrdered = 500_000;

/** Sorted by time. Lines of one task keep their order where their times are equal. */
async function* inTimeOrder(lines: AsyncIterable<LogLine>): AsyncGenerator<LogLine> {
  let held: LogLine[] = [];
  const ordered = (): LogLine[] => held.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  try {
    for await (const line of lines) {
      held.push(line);
      if (held.length < maxOrdered) continue;
      yield* ordered();
      held = [];
    }
  } finally {
    // Includes the lines before a lost connection.
    yield* ordered();
  }
}
