// `ropewalk token revoke ID`: within seconds it opens nothing any more.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function revokeTokenCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('revoke')
    .description('Revoke a token: within five seconds it opens nothing any more, and what it had open ends.')
    .argument('<id>', 'the 12 letters and digits that `ropewalk token list` shows');
  return withFormat(withConnection(command)).action(async (id: string, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const token = await client.tokens.revoke(id);
    if (flags.format === 'json') context.output.json(token);
    else context.output.out(`Token ${token.id} of ${token.user} is revoked`);
    finish(exitCodes.ok);
  });
}
