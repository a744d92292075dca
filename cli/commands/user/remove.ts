// `ropewalk user remove NAME`: ends a user's access. Their jobs and clusters continue.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function removeUserCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('remove')
    .description('Remove a user and revoke their tokens; their jobs and clusters continue; for admins.')
    .argument('<name>', 'name of the user');
  return withFormat(withConnection(command)).action(async (name: string, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const user = await client.users.remove(name);
    if (flags.format === 'json') context.output.json(user);
    else context.output.out(`${user.name} is removed, and their tokens are revoked`);
    if (user.use.running > 0) {
      context.output.err(
        `Their open jobs and clusters continue (${user.use.running}): see ropewalk batch list and ropewalk cluster list`,
      );
    }
    finish(exitCodes.ok);
  });
}
