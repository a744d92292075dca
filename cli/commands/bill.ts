// `ropewalk bill FILE...`: compares AWS's Cost and Usage report with the cost ledger.
import { Command } from 'commander';

import { withFormat, type CliContext, type Finish, type FormatFlag } from '../context.ts';

export function billCommand({ env, home, output }: CliContext, finish: Finish): Command {
  return withFormat(new Command('bill'))
    .description("Compare AWS's bill with the cost ledger, by cluster. On the machine of the control plane.")
    .argument('<files...>', 'Parquet or CSV files of a Cost and Usage report (CUR 2.0), also .csv.gz')
    .action(async (files: string[], flags: FormatFlag) => {
      // Loaded only here: no other command may depend on the server's code.
      const { runBill } = await import('../../ops/bill/bill.ts');
      finish(await runBill({ files, format: flags.format, env, home }, output));
    });
}
