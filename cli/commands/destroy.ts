// `ropewalk destroy --by-tag`: the emergency stop, which needs no other part of Ropewalk.
import { Command } from 'commander';

import { askOnStderr } from '../ask.ts';
import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface DestroyFlags extends FormatFlag {
  deployment?: string;
  dryRun?: true;
  yes?: true;
}

export function destroyCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('destroy'))
    .description(
      'Terminate every instance of a deployment by its tag alone, without the database, Temporal and the API.',
    )
    .requiredOption('--by-tag', 'find them by their tag (the only way there is)')
    .option('--deployment <id>', "another deployment than the home's own")
    .option('--dry-run', 'list them; terminate nothing')
    .option('--yes', 'do not ask')
    .action(async (flags: DestroyFlags) => {
      // Loaded only here: no other command may depend on the providers' code.
      const { runDestroy } = await import('../../ops/destroy.ts');
      const asked = { dryRun: flags.dryRun === true, yes: flags.yes === true };
      finish(await runDestroy({ ...flags, ...asked, env, home, ask: askOnStderr }, output));
    });
}
