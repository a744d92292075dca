// `ropewalk cost`: the cost of the workspace's instances.
import { Command, Option } from 'commander';

import { costsCsv } from '../../domain/cost/csv.ts';
import type { Costs } from '../../sdk/client.ts';
import { parseSince } from '../arguments.ts';
import type { CliContext, ConnectionFlags, Finish } from '../context.ts';
import { connect, withConnection } from '../context.ts';
import { formatDollars } from '../dollars.ts';
import { exitCodes } from '../errors.ts';
import { formatTable, type Column } from '../table.ts';
import { formatTime } from '../times.ts';

const groupings = ['user', 'tag', 'job', 'cluster', 'day', 'type'] as const;

interface Flags extends ConnectionFlags {
  by: (typeof groupings)[number];
  since?: Date;
  user?: string;
  format: 'table' | 'json' | 'csv';
}

export function costCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('cost')
    .description('Show the cost of instances, in US dollars. Approximate: by list and spot prices, not by the bill.')
    .addOption(new Option('--by <what>', 'a row for each').choices(groupings).default('user'))
    .option('--since <time>', 'since then: a time, or how long ago (7d); 30 days unless given', parseSince)
    .option('--user <user>', 'only of this user')
    .addOption(new Option('--format <format>', 'output format').choices(['table', 'json', 'csv']).default('table'));
  return withConnection(command).action(async (flags: Flags) => {
    const { output } = context;
    const { by, since, user, format } = flags;
    const client = await connect(context, flags);
    const costs = await client.costs.read({
      by,
      ...(since === undefined ? {} : { since: since.toISOString() }),
      ...(user === undefined ? {} : { user }),
    });
    if (format === 'json') output.json(costs);
    else if (format === 'csv') output.out(costsCsv(costs));
    else {
      output.out(formatCosts(costs));
      for (const source of costs.priceSources) output.err(`Prices: ${source}`);
    }
    finish(exitCodes.ok);
  });
}

function formatCosts({ by, since, items, total }: Costs): string {
  if (items.length === 0) return `No instance has run since ${formatTime(since)}.`;
  const columns: Column[] = [
    { title: `${by[0]?.toUpperCase()}${by.slice(1)}`, align: 'left' },
    ...(by === 'job' || by === 'cluster' ? [{ title: 'Name', align: 'left' } as const] : []),
    { title: 'Instances', align: 'right' },
    { title: 'Instance Hours', align: 'right' },
    { title: 'Approx Cloud Cost', align: 'right' },
    { title: 'Per Hour Now', align: 'right' },
  ];
  const amounts = ({ instances, instanceHours, dollars, dollarsPerHour }: Costs['total']): string[] => [
    String(instances),
    instanceHours.toFixed(2),
    formatDollars(dollars),
    formatDollars(dollarsPerHour),
  ];
  const named = by === 'job' || by === 'cluster';
  const rows = items.map(({ key, name, ...line }) => [key, ...(named ? [name ?? ''] : []), ...amounts(line)]);
  return formatTable(columns, [...rows, ['total', ...(named ? [''] : []), ...amounts(total)]]);
}
