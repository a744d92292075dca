// Lines of logs on a terminal: which ones, and in which order.
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';

import type { LogLine } from '../sdk/client.ts';
import { parseSince } from './arguments.ts';
import type { ConnectionFlags } from './context.ts';

export interface LogFlags extends ConnectionFlags {
  filter?: RegExp;
  follow?: boolean;
  since?: Date;
  format: 'text' | 'json';
}

/** `subject`: "the job", for the help. */
export const withLogOptions = (command: Command, subject: string): Command =>
  command
    .option('--filter <text>', 'only lines with this text; %regex% for a regular expression', parseFilter)
    .option('-f, --follow', `continue until ${subject} has ended`)
    .option('--since <time>', 'only lines since a time (2026-01-31T12:00) or an age (10m)', parseSince)
    .addOption(
      new Option('--format <format>', 'output format; json is one object per line')
        .choices(['text', 'json'])
        .default('text'),
    );

/** As `aws logs tail --filter-pattern` has it: a text that lines contain, or `%regex%`. */
function parseFilter(text: string): RegExp {
  const regex = /^%(.+)%$/s.exec(text)?.[1];
  try {
    return new RegExp(regex ?? text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  } catch {
    throw new InvalidArgumentError(`${text} is no regular expression.`);
  }
}

/** Lines that are put in order at a time; beyond that they come as the server sends them, which is in order within each task. */
const maxOrdered = 500_000;

/** By time. Lines of one task keep their order where their times are equal. */
export async function* inTimeOrder(lines: AsyncIterable<LogLine>): AsyncGenerator<LogLine> {
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
    // Also what came before a connection was lost.
    yield* ordered();
  }
}
