// `ropewalk token revoke ID`: revokes a token.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function revokeTokenCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('revoke')
    .description('Revoke a token: the API refuses it within seconds, and its open connections end.')
    .argument('<id>', 'id of the token: 12 letters and digits, see `ropewalk token list`');
  return withFormat(withConnection(command)).action(async (id: string, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const token = await client.tokens.revoke(id);
    if (flags.format === 'json') context.output.json(token);
    else context.output.out(`Token ${token.id} of ${token.user} is revoked`);
    finish(exitCodes.ok);
  });
}
