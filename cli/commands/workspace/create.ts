// `ropewalk workspace create SLUG --admin USER`: creates a workspace with its first admin, for operators.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { showCreatedToken } from '../../people.ts';

interface CreateFlags extends ConnectionFlags, FormatFlag {
  admin: string;
}

export function createWorkspaceCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('create')
    .description("Create a workspace; for operators. Prints its admin's token, only now.")
    .argument('<slug>', 'name of the workspace in addresses and tokens, e.g. team-a')
    .requiredOption('--admin <user>', 'first user of the workspace, an admin');
  return withFormat(withConnection(command)).action(async (slug: string, flags: CreateFlags) => {
    const client = await connect(context, flags);
    const created = await client.workspaces.create({ slug, admin: flags.admin });
    if (flags.format === 'json') context.output.json(created);
    else {
      context.output.err(`Workspace ${created.slug} is created`);
      showCreatedToken(context, created.admin);
    }
    finish(exitCodes.ok);
  });
}
