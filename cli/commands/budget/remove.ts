// `ropewalk budget remove NAME`: removes a budget; held launches may continue.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { show } from '../../people.ts';

export function removeBudgetCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('remove')
    .description('Remove a budget: clusters that it kept from launching instances may do so again; for admins.')
    .argument('<name>', 'name of the budget');
  return withFormat(withConnection(command)).action(async (name: string, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    show(context, flags, await client.budgets.remove(name), (budget) => `Budget ${budget.name} is removed`);
    finish(exitCodes.ok);
  });
}
