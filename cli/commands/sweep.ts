// `ropewalk sweep`: finds instances that no open cluster claims, now instead of on schedule.
import { Command } from 'commander';

import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface SweepFlags extends FormatFlag {
  namespace?: string;
  dryRun?: true;
}

export function sweepCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('sweep'))
    .description('Find instances that no open cluster claims; terminate those that two runs have found.')
    .option('--namespace <name>', "the Temporal namespace (else TEMPORAL_NAMESPACE, else the stack's)")
    .option('--dry-run', 'show what would be terminated, and why; change nothing')
    .action(async (flags: SweepFlags) => {
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { runSweep } = await import('../../ops/sweep.ts');
      finish(await runSweep({ ...flags, dryRun: flags.dryRun === true, env, home }, output));
    });
}
