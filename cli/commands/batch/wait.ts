// `ropewalk batch wait [N]`: waits until a job has ended.
import { Command } from 'commander';

import type { Client } from '../../../sdk/client.ts';
import type { Reference } from '../../arguments.ts';
import { parsePath, parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { numberOfJob } from '../../references.ts';
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
      const number = given === undefined ? await newest(client) : await numberOfJob(client, given);
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

async function newest(client: Client): Promise<number> {
  const { items } = await client.jobs.list({ limit: 1 });
  if (items[0] === undefined)
    throw new UsageError('there is no job to wait for', 'Submit one: ropewalk batch run my_script.sh.');
  return items[0].number;
}
