// `ropewalk budget list`: the budgets of the workspace, and their usage.
import { Command } from 'commander';

import { formatBudgets } from '../../budgets.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { show } from '../../people.ts';

export function listBudgetsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list').description('List the budgets of the workspace, and how much of them is used.');
  return withFormat(withConnection(command)).action(async (flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    show(context, flags, await client.budgets.list(), formatBudgets);
    finish(exitCodes.ok);
  });
}
