// `ropewalk token list`: lists the caller's tokens, for an admin those of the workspace. Without their secrets.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { formatTokens, show } from '../../people.ts';

interface ListFlags extends ConnectionFlags, FormatFlag {
  all?: boolean;
}

export function listTokensCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list')
    .description('List your tokens; as an admin, those of the whole workspace. Times are local.')
    .option('--all', 'include revoked tokens');
  return withFormat(withConnection(command)).action(async (flags: ListFlags) => {
    const client = await connect(context, flags);
    const tokens = await client.tokens.list();
    const shown = flags.all === true ? tokens : tokens.filter(({ revokedAt }) => revokedAt === null);
    show(context, flags, shown, formatTokens);
    finish(exitCodes.ok);
  });
}
