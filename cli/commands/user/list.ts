// `ropewalk user list`: lists the users of the workspace.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { formatUsers, show } from '../../people.ts';

export function listUsersCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list').description(
    'List the users of the workspace with their roles, usage and limits.',
  );
  return withFormat(withConnection(command)).action(async (flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    show(context, flags, await client.users.list(), formatUsers);
    finish(exitCodes.ok);
  });
}
