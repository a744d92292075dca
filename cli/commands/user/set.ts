// `ropewalk user set NAME`: adds a user, or changes their role and limits.
import { Command, Option } from 'commander';

import type { PutUser, Role } from '../../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import type { LimitFlags } from '../../limits.ts';
import { limitsOf, withLimits } from '../../limits.ts';
import { formatUsers, show } from '../../people.ts';

interface SetFlags extends ConnectionFlags, FormatFlag, LimitFlags {
  role?: Role;
  ownLimits?: false;
}

export function setUserCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('set')
    .description('Add a user to the workspace, or change the given properties of a user; for admins.')
    .argument('<name>', 'name of the user')
    .addOption(new Option('--role <role>', 'role of the user').choices(['admin', 'member', 'read-only']))
    .addOption(new Option('--no-own-limits', "remove the user's own limits: the workspace's limits per user apply"));
  return withFormat(withConnection(withLimits(command))).action(async (name: string, flags: SetFlags) => {
    const change = changeOf(flags);
    const client = await connect(context, flags);
    show(context, flags, await client.users.set(name, change), (user) => formatUsers([user]));
    finish(exitCodes.ok);
  });
}

function changeOf(flags: SetFlags): PutUser {
  const limits = limitsOf(flags);
  const hasLimits = Object.keys(limits).length > 0;
  if (flags.ownLimits === false && hasLimits) {
    throw new UsageError('--no-own-limits cannot be combined with --running, --instances or --vcpus');
  }
  return {
    ...(flags.role !== undefined && { role: flags.role }),
    ...(flags.ownLimits === false ? { limits: null } : hasLimits && { limits }),
  };
}
