// `ropewalk token create`: a token for another machine or program, which may at most what yours may.
import { Command, Option } from 'commander';

import type { Scope } from '../../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { showCreatedToken } from '../../people.ts';

interface CreateFlags extends ConnectionFlags, FormatFlag {
  name?: string;
  user?: string;
  scope?: Scope[];
  expires?: string;
}

const scopes = ['read', 'write', 'admin', 'operator'] as const;

export function createTokenCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('create')
    .description('Make a token. It is printed once, alone on standard output, and kept nowhere.')
    .option('--name <name>', 'what it is for, e.g. laptop or ci')
    .option('--user <name>', 'for somebody else of the workspace; for admins')
    .addOption(new Option('--scope <scope...>', 'what it may do (all that yours may, unless given)').choices(scopes))
    .option('--expires <duration>', 'from now, e.g. "30 days"; else it is good until it is revoked');
  return withFormat(withConnection(command)).action(async (flags: CreateFlags) => {
    const client = await connect(context, flags);
    const { name, user, scope, expires } = flags;
    const created = await client.tokens.create({
      ...(name !== undefined && { name }),
      ...(user !== undefined && { user }),
      ...(scope !== undefined && { scopes: scope }),
      ...(expires !== undefined && { expires }),
    });
    if (flags.format === 'json') context.output.json(created);
    else showCreatedToken(context, created);
    finish(exitCodes.ok);
  });
}
