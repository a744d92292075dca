// `ropewalk user remove NAME`: end somebody's access. What they started goes on.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function removeUserCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('remove')
    .description('Remove somebody and revoke their tokens; what they started goes on; for admins.')
    .argument('<name>', 'the user');
  return withFormat(withConnection(command)).action(async (name: string, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const user = await client.users.remove(name);
    if (flags.format === 'json') context.output.json(user);
    else context.output.out(`${user.name} is removed, and their tokens are revoked`);
    if (user.use.running > 0) {
      context.output.err(
        `What they started goes on: ${user.use.running} open, see ropewalk batch list and cluster list`,
      );
    }
    finish(exitCodes.ok);
  });
}
