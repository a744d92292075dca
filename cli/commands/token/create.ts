// `ropewalk token create`: creates a token for another machine or program, with at most the rights of the caller's token.
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
    .description('Create a token. It is printed only now, alone on standard output, and not stored.')
    .option('--name <name>', 'purpose of the token, e.g. laptop or ci')
    .option('--user <name>', 'another user of the workspace; for admins')
    .addOption(new Option('--scope <scope...>', 'scopes of the token (default: those of your token)').choices(scopes))
    .option('--expires <duration>', 'lifetime, e.g. "30 days" (default: until it is revoked)');
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
