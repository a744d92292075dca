// `ropewalk workspace list`: lists all workspaces of the deployment, for operators.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { show } from '../../people.ts';
import { formatTable } from '../../table.ts';
import { formatTime } from '../../times.ts';

export function listWorkspacesCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list').description('List all workspaces; for operators. Times are local.');
  return withFormat(withConnection(command)).action(async (flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    show(context, flags, await client.workspaces.list(), (workspaces) =>
      formatTable(
        [
          { title: 'Workspace', align: 'left' },
          { title: 'Created', align: 'left' },
        ],
        workspaces.map(({ slug, createdAt }) => [slug, formatTime(createdAt)]),
      ),
    );
    finish(exitCodes.ok);
  });
}
