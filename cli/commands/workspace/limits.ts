// `ropewalk workspace limits`: shows or changes the limits of the workspace and its users, with their usage.
import { Command, Option } from 'commander';

import type { PutLimits } from '../../../sdk/client.ts';
import { parseAmount } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import type { LimitFlags } from '../../limits.ts';
import { limitsOf, withLimits } from '../../limits.ts';
import { formatWorkspace, show } from '../../people.ts';

interface LimitsFlags extends ConnectionFlags, FormatFlag, LimitFlags {
  userRunning?: number;
  userInstances?: number;
  userVcpus?: number;
  perUser?: false;
}

export function limitsCommand(context: CliContext, finish: Finish): Command {
  const command = withLimits(
    new Command('limits').description('Show usage and limits; with options, change limits, as an admin.'),
  )
    .option('--user-running <n>', 'maximum number of open jobs and clusters of each user', parseAmount)
    .option('--user-instances <n>', 'maximum number of instances of each user', parseAmount)
    .option('--user-vcpus <n>', 'maximum number of vCPUs of each user', parseAmount)
    .addOption(new Option('--no-per-user', 'remove the limits per user'));
  return withFormat(withConnection(command)).action(async (flags: LimitsFlags) => {
    const change = changeOf(flags);
    const client = await connect(context, flags);
    const isChange = Object.keys(change).length > 0;
    const workspace = isChange ? await client.workspaces.setLimits(change) : await client.workspaces.current();
    show(context, flags, workspace, formatWorkspace);
    finish(exitCodes.ok);
  });
}

function changeOf(flags: LimitsFlags): PutLimits {
  const { userRunning, userInstances, userVcpus } = flags;
  const perUser = limitsOf({
    ...(userRunning !== undefined && { running: userRunning }),
    ...(userInstances !== undefined && { instances: userInstances }),
    ...(userVcpus !== undefined && { vcpus: userVcpus }),
  });
  const hasPerUser = Object.keys(perUser).length > 0;
  if (flags.perUser === false && hasPerUser)
    throw new UsageError('--no-per-user cannot be combined with --user-running, --user-instances or --user-vcpus');
  return { ...limitsOf(flags), ...(flags.perUser === false ? { perUser: null } : hasPerUser && { perUser }) };
}
