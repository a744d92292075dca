// `ropewalk doctor`: prints the state of each part, and remedies. Exits with 1 when something is broken.
import { Command } from 'commander';

import { resolveConnection } from '../config.ts';
import {
  withConnection,
  withFormat,
  type CliContext,
  type ConnectionFlags,
  type Finish,
  type FormatFlag,
} from '../context.ts';
import { exitCodes } from '../errors.ts';
import { formatTable } from '../table.ts';

export function doctorCommand(context: CliContext, finish: Finish): Command {
  const { env, home, output } = context;
  return withFormat(withConnection(new Command('doctor')))
    .description(
      'Check this machine, its control plane and its clouds, and name the command that repairs each problem.',
    )
    .option('--reset-stuck', 'reset workflows that a known fault of the Temporal SDK has stopped')
    .action(async (flags: ConnectionFlags & FormatFlag & { resetStuck?: true }) => {
      const connection = await resolveConnection(flags, context).catch((error: unknown) => ({
        problem: error instanceof Error ? error.message : String(error),
      }));
      // Loaded only here: no other command may depend on Temporal or the server's code.
      const { examine, isBroken } = await import('../../ops/doctor/doctor.ts');
      const findings = await examine({ env, home, connection, resetStuck: flags.resetStuck === true });
      if (flags.format === 'json') output.json(findings);
      else {
        const rows = findings.map(({ check, state, text, fix }) => [check, state, text, fix]);
        output.out(formatTable(columns, rows));
      }
      finish(isBroken(findings) ? exitCodes.failed : exitCodes.ok);
    });
}

const columns = ['Check', 'State', 'Found', 'What to do'].map((title) => ({ title, align: 'left' }) as const);
