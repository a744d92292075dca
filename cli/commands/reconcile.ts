// `ropewalk reconcile`: compares the database with Temporal now instead of on schedule, for example after a restore.
import { Command } from 'commander';

import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

interface ReconcileFlags extends FormatFlag {
  namespace?: string;
  dryRun?: true;
}

export function reconcileCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('reconcile'))
    .description('Compare the database with workflows: finalize rows without a workflow, and add missing rows.')
    .option('--namespace <name>', "the Temporal namespace (else TEMPORAL_NAMESPACE, else the stack's)")
    .option('--dry-run', 'show what would change; change nothing')
    .action(async (flags: ReconcileFlags) => {
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { runReconcile } = await import('../../ops/reconcile.ts');
      finish(await runReconcile({ ...flags, dryRun: flags.dryRun === true, env, home }, output));
    });
}
