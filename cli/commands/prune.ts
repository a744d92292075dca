// `ropewalk prune`: deletes files in the object store that nothing refers to.
import { Command } from 'commander';

import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface PruneFlags extends FormatFlag {
  dryRun?: true;
}

export function pruneCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('prune'))
    .description(
      'Delete uploaded files and lists of inputs that no job, schedule or filestore refers to; with the API stopped.',
    )
    .option('--dry-run', 'count them; delete nothing')
    .action(async (flags: PruneFlags) => {
      // Loaded only here: no other command may depend on the server's code.
      const { runPrune } = await import('../../ops/prune.ts');
      finish(await runPrune({ ...flags, dryRun: flags.dryRun === true, env, home }, output));
    });
}
