// `ropewalk workspace defaults`: shows or replaces the defaults of clusters and jobs.
import { Command, Option } from 'commander';

import type { PutDefaults } from '../../../sdk/client.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { formatDefaults, show } from '../../people.ts';

interface DefaultsFlags extends ConnectionFlags, FormatFlag, PutDefaults {
  clear?: true;
}

export function defaultsCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('defaults')
    .description('Show the defaults of the workspace; with options, replace all of them, as an admin.')
    .option('--provider <name>', 'the provider that the other defaults are for')
    .option('--region <region>', 'where clusters and jobs run')
    .option('--zone <zone>', 'the zone of that region')
    .addOption(
      new Option('--spot-policy <policy>', 'how workers are bought').choices([
        'on-demand',
        'spot',
        'spot_with_fallback',
      ]),
    )
    .option('--allow-cross-zone', 'instances can be in different zones')
    .option('--allow-ssh', "open port 22 of the scheduler's instance")
    .option('--allow-ssh-from <sources>', 'to whom: addresses, ranges or everyone, separated by commas')
    .option('--allow-ingress-from <sources>', "to whom the scheduler's port is open")
    .option('--instance-credentials', 'tasks can use the role or service account of their instance')
    .option('--clear', 'remove all defaults');
  return withFormat(withConnection(command)).action(async (flags: DefaultsFlags) => {
    const defaults = defaultsOf(flags);
    const isChange = Object.keys(defaults).length > 0 || flags.clear === true;
    const client = await connect(context, flags);
    const workspace = isChange ? await client.workspaces.setDefaults(defaults) : await client.workspaces.current();
    show(context, flags, workspace.defaults, formatDefaults);
    finish(exitCodes.ok);
  });
}

function defaultsOf(flags: DefaultsFlags): PutDefaults {
  const { provider, region, zone, spotPolicy, allowCrossZone, allowSsh, allowSshFrom, allowIngressFrom } = flags;
  const places = { provider, region, zone, spotPolicy, allowCrossZone, allowSsh, allowSshFrom, allowIngressFrom };
  const all = { ...places, instanceCredentials: flags.instanceCredentials };
  const defaults = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  if (flags.clear === true && Object.keys(defaults).length > 0)
    throw new UsageError('--clear removes all defaults and cannot be combined with one');
  return defaults;
}
