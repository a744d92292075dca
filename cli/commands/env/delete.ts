// `ropewalk env delete NAME`: deletes a named environment; running clusters and jobs keep it.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';

export function deleteEnvironmentCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('delete')
    .description('Delete a named environment. Clusters and jobs that use it are not affected.')
    .argument('<name>', 'name of the environment');
  return withFormat(withConnection(command)).action(async (name: string, flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const deleted = await client.environments.delete(name);
    if (flags.format === 'json') context.output.json(deleted);
    else context.output.out(`Environment ${deleted.name} is deleted`);
    finish(exitCodes.ok);
  });
}
