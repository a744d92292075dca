// `ropewalk budget set NAME`: creates or replaces a budget.
import { Command, Option } from 'commander';

import type { PutBudget } from '../../../sdk/client.ts';
import { parseDollars, parseNumber, parsePercent } from '../../arguments.ts';
import { formatBudgets } from '../../budgets.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { show } from '../../people.ts';

interface SetFlags extends ConnectionFlags, FormatFlag {
  dollars: number;
  per: NonNullable<PutBudget['period']>;
  user?: string;
  cluster?: number;
  job?: number;
  warnAt: number;
  action: NonNullable<PutBudget['action']>;
}

export function setBudgetCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('set')
    .description('Create or replace a budget of the workspace, or of a user, a cluster or a job; for admins.')
    .argument('<name>', 'name of the budget')
    .requiredOption('--dollars <dollars>', 'how much may be spent, in US dollars', parseDollars)
    .addOption(
      new Option('--per <period>', 'in which time; run: each cluster or job alone, from its start on')
        .choices(['run', 'day', 'month'])
        .default('month'),
    )
    .option('--user <user>', 'only jobs and clusters of this user')
    .option('--cluster <number>', 'only this cluster', parseNumber)
    .option('--job <number>', 'only this job', parseNumber)
    .option('--warn-at <percent>', 'percentage at which a warning is given', parsePercent, 80)
    .addOption(
      new Option('--action <action>', 'action of a used-up budget: warn, refuse launches, or stop running instances')
        .choices(['warn', 'refuse', 'stop'])
        .default('refuse'),
    );
  return withFormat(withConnection(command)).action(async (name: string, flags: SetFlags) => {
    const { dollars, per: period, warnAt: warnAtPercent, action, user, cluster, job } = flags;
    const client = await connect(context, flags);
    const budget = await client.budgets.set(name, {
      ...{ dollars, period, warnAtPercent, action },
      ...(user !== undefined && { user }),
      ...(cluster !== undefined && { cluster }),
      ...(job !== undefined && { job }),
    });
    show(context, flags, budget, (each) => formatBudgets([each]));
    finish(exitCodes.ok);
  });
}
