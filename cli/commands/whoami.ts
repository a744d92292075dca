// `ropewalk whoami`: prints the user and the scopes of the token.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { connect, withConnection, withFormat } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { formatWhoami, show } from '../people.ts';

export function whoamiCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('whoami').description('Show the user, role and scopes of the token in use.');
  return withFormat(withConnection(command)).action(async (flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    show(context, flags, await client.whoami(), formatWhoami);
    finish(exitCodes.ok);
  });
}
