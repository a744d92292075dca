// Budgets on a terminal.
import type { Budget } from '../sdk/client.ts';
import { formatDollars } from './dollars.ts';
import { formatTable, type Column } from './table.ts';
import { formatTime } from './times.ts';

const columns: Column[] = [
  { title: 'Budget', align: 'left' },
  { title: 'Of', align: 'left' },
  { title: 'Per', align: 'left' },
  { title: 'Spent', align: 'right' },
  { title: 'Limit', align: 'right' },
  { title: 'Used', align: 'right' },
  { title: 'Per Hour Now', align: 'right' },
  { title: 'Then', align: 'left' },
  { title: 'State', align: 'left' },
  { title: 'Until', align: 'left' },
];

export function formatBudgets(budgets: readonly Budget[]): string {
  if (budgets.length === 0) return 'No budget. Set one: ropewalk budget set NAME --dollars 500';
  return formatTable(
    columns,
    budgets.map((budget) => {
      const { name, period, spentDollars, dollars, dollarsPerHour, action, level, periodEndsAt } = budget;
      const used = `${Math.floor((spentDollars / dollars) * 100)} %`;
      const amounts = [formatDollars(spentDollars), formatDollars(dollars), used, formatDollars(dollarsPerHour)];
      const until = periodEndsAt === null ? '' : formatTime(periodEndsAt);
      return [name, subjectOf(budget), period, ...amounts, action, level === 'exceeded' ? 'used up' : level, until];
    }),
  );
}

function subjectOf({ user, cluster, job }: Budget): string {
  if (user !== null) return `user ${user}`;
  if (cluster !== null) return `cluster ${cluster}`;
  return job === null ? 'workspace' : `job ${job}`;
}
