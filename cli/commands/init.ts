// `ropewalk init`: prepares the database and a Temporal namespace, once per deployment and after each upgrade.
import { Command } from 'commander';

import { parseLimit } from '../arguments.ts';
import { askOnStderr } from '../ask.ts';
import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface InitFlags extends FormatFlag {
  namespace?: string;
  retentionDays?: number;
  searchAttributes: boolean;
  autoReset: boolean;
  newTemporalNamespace?: true;
  yes?: true;
  admin?: string;
  workspace: string;
}

export function initCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('init'))
    .description('Prepare the database and a Temporal namespace: tables, retention, search attributes, schedules.')
    .option('--namespace <name>', 'the Temporal namespace (else TEMPORAL_NAMESPACE, else ropewalk)')
    .option('--retention-days <days>', 'how long a new namespace keeps ended workflows (default: 30)', parseLimit)
    .option('--no-search-attributes', 'do not add search attributes: an administrator of the server has')
    .option('--no-auto-reset', 'only report stuck workflows, never reset them')
    .option(
      '--new-temporal-namespace',
      'the namespace of this deployment is lost: end its jobs and clusters, use another',
    )
    .option('--yes', 'do not ask about --new-temporal-namespace')
    .option('--admin <name>', 'add the first admin of the workspace, and print their token once')
    .option('--workspace <slug>', 'the workspace of --admin', 'default')
    .addHelpText(
      'after',
      '\nThe database is the PostgreSQL of ROPEWALK_DATABASE_URL, else ropewalk.db in the home.' +
        "\nThe Temporal server is that of TEMPORAL_ADDRESS or of a Temporal configuration profile, else the stack's.",
    )
    .action(async (flags: InitFlags) => {
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { runInit } = await import('../../ops/init/init.ts');
      const asked = { newTemporalNamespace: flags.newTemporalNamespace === true, yes: flags.yes === true };
      finish(await runInit({ ...flags, ...asked, env, home, ask: askOnStderr }, output));
    });
}
