// `ropewalk dev`: the whole stack on this machine, until Ctrl-C.
import { Command } from 'commander';

import { askOnStderr } from '../ask.ts';
import type { Finish } from '../context.ts';

interface DevFlags {
  home?: string;
  config?: string;
  ui?: boolean;
  newTemporalNamespace?: true;
  yes?: true;
}

export function devCommand(finish: Finish): Command {
  return new Command('dev')
    .description('Start Temporal, the API and a worker on this machine, and run jobs here, until Ctrl-C.')
    .option('--home <directory>', "Ropewalk's home (else ROPEWALK_HOME, else ~/.ropewalk)")
    .option('--config <path>', 'another temporal-dev.yml')
    .option(
      '--ui',
      'also start the Temporal UI; it has no sign-in, and accepts requests from any web page that this machine opens',
    )
    .option('--new-temporal-namespace', 'temporal.db is lost: end its jobs and clusters, start with an empty one')
    .option('--yes', 'do not ask about --new-temporal-namespace')
    .action(async (flags: DevFlags) => {
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { runDev } = await import('../../dev/main.ts');
      const { newTemporalNamespace, yes, ...rest } = flags;
      const consent = newTemporalNamespace === true ? { yes: yes === true, ask: askOnStderr } : null;
      const code = await runDev({ ...rest, newNamespace: consent });
      finish(code);
      // A start that a signal ended may wait some more seconds for Temporal's answers.
      process.exit(code);
    });
}
