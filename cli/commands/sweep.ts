// `ropewalk sweep`: looks for instances that no open cluster claims, now instead of on schedule.
import { Command } from 'commander';

import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface SweepFlags extends FormatFlag {
  namespace?: string;
  dryRun?: true;
}

export function sweepCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('sweep'))
    .description('Find instances that no open cluster claims; end those that were seen so twice.')
    .option('--namespace <name>', "the Temporal namespace (else TEMPORAL_NAMESPACE, else the stack's)")
    .option('--dry-run', 'show what would go, with reasons; change nothing')
    .action(async (flags: SweepFlags) => {
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { runSweep } = await import('../../ops/sweep.ts');
      finish(await runSweep({ ...flags, dryRun: flags.dryRun === true, env, home }, output));
    });
}
