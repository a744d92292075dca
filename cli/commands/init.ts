// `ropewalk init`: prepares a Temporal namespace, once per deployment and after each upgrade.
import { Command } from 'commander';

import { parseLimit } from '../arguments.ts';
import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface InitFlags extends FormatFlag {
  namespace?: string;
  retentionDays?: number;
  searchAttributes: boolean;
}

export function initCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('init'))
    .description('Prepare a Temporal namespace: retention, search attributes, the deployment, the scheduled sweep.')
    .option('--namespace <name>', 'the Temporal namespace (else TEMPORAL_NAMESPACE, else ropewalk)')
    .option('--retention-days <days>', 'how long a new namespace keeps what is over (default: 30)', parseLimit)
    .option('--no-search-attributes', 'leave search attributes alone: somebody else has added them')
    .addHelpText(
      'after',
      "\nThe server is the one of TEMPORAL_ADDRESS or of a Temporal configuration profile, else the stack's.",
    )
    .action(async (flags: InitFlags) => {
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { runInit } = await import('../../ops/init/init.ts');
      finish(await runInit({ ...flags, env, home }, output));
    });
}
