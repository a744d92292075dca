// `ropewalk env list`: lists the named environments of the workspace.
import { Command } from 'commander';

import type { NamedEnvironment } from '../../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { formatTable } from '../../table.ts';
import { formatTime } from '../../times.ts';

export function listEnvironmentsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('list').description('List the named environments of the workspace. Times are local.');
  return withFormat(withConnection(command)).action(async (flags: ConnectionFlags & FormatFlag) => {
    const client = await connect(context, flags);
    const all: NamedEnvironment[] = [];
    for (let after: string | undefined; ;) {
      const { items, next } = await client.environments.list({ limit: 1_000, ...(after !== undefined && { after }) });
      all.push(...items);
      if (next === null) break;
      after = next;
    }
    if (flags.format === 'json') context.output.json(all);
    else context.output.out(formatTable(columns, all.map(rowOf)));
    finish(exitCodes.ok);
  });
}

const columns = ['Name', 'Version', 'Content', 'Changed', 'By'].map((title) => ({ title, align: 'left' as const }));

const rowOf = ({ name, version, summary, updatedAt, user }: NamedEnvironment): string[] => [
  ...[name, String(version), summary, formatTime(updatedAt), user],
];
