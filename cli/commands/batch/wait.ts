// `ropewalk batch wait [N]`: waits until a job has ended.
import { Command } from 'commander';

import type { Reference } from '../../arguments.ts';
import { parsePath, parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { newestJob, numberOfJob } from '../../references.ts';
import { downloadJobFiles, prepareDownload } from '../../transfer/job-files.ts';
import { detachedFromJob, watchJob } from '../../watch.ts';

export function waitCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('wait')
    .description('Wait until a job has ended; exit code 1 unless every task is done.')
    .option('--download <directory>', 'download the files that its tasks have left into this directory', parsePath)
    .argument('[job]', 'number or name (default: the newest job)', parseReference);
  return withFormat(withConnection(command)).action(
    async (given: Reference | undefined, flags: ConnectionFlags & FormatFlag & { download?: string }) => {
      const client = await connect(context, flags);
      const number = given === undefined ? await newestJob(client, 'to wait for') : await numberOfJob(client, given);
      finish(
        await untilInterrupted(
          () => detachedFromJob(number),
          async (signal) => {
            const { download: into } = flags;
            await prepareDownload(context, into);
            const exitCode = await watchJob(client, number, context, flags, signal);
            if (into !== undefined) await downloadJobFiles(context, flags, { client, number, into, signal });
            return exitCode;
          },
        ),
      );
    },
  );
}
