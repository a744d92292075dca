// The filter options of lists.
import type { Command } from 'commander';

import { parseLimit, parseSince } from './arguments.ts';

export interface FilterFlags {
  status?: string[];
  name?: string;
  user?: string;
  since?: Date;
  search?: string;
  limit: number;
}

/** `statuses`: all statuses, for the help. */
export const withFilters = (command: Command, statuses: readonly string[]): Command =>
  command
    .option('--status <status>', `only these: ${statuses.join(', ')}; several with commas`, (text) => text.split(','))
    .option('--name <name>', 'only those of exactly this name')
    .option('--user <user>', 'only those of this user')
    .option('--since <time>', 'only those started since then: a time, or how long ago (2h)', parseSince)
    .option('--search <text>', 'only those with this text in name or command')
    .option('--limit <n>', 'how many', parseLimit, 10);

/** Whether any filter was given: an empty list then has another meaning. */
export const isFiltered = ({ status, name, user, since, search }: FilterFlags): boolean =>
  [status, name, user, since, search].some((each) => each !== undefined);

/** The given filters in the SDK's form. The API refuses an unknown status. */
export function filterOf<S extends string>({ status, name, user, since, search }: FilterFlags) {
  return {
    ...(status === undefined ? {} : { status: status as S[] }),
    ...(name === undefined ? {} : { name }),
    ...(user === undefined ? {} : { user }),
    ...(since === undefined ? {} : { since }),
    ...(search === undefined ? {} : { search }),
  };
}
