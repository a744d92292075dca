// `ropewalk batch files N`: lists the output files of a job's tasks.
import { Command } from 'commander';

import type { ListedFile } from '../../../sdk/files.ts';
import type { Reference } from '../../arguments.ts';
import { parsePath, parseReference } from '../../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { numberOfJob } from '../../references.ts';
import { formatTime } from '../../times.ts';
import { formatTable } from '../../table.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { downloadJobFiles } from '../../transfer/job-files.ts';

interface Flags extends ConnectionFlags, FormatFlag {
  download?: string;
}

export function filesCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('files')
    .description("List or download the output files of a job's tasks. Times are local.")
    .argument('<job>', 'number or name', parseReference)
    .option('--download <directory>', 'download them into this directory instead', parsePath);
  return withFormat(withConnection(command)).action(async (given: Reference, flags: Flags) => {
    const client = await connect(context, flags);
    const number = await numberOfJob(client, given);
    const { download } = flags;
    finish(
      await untilInterrupted(
        () => 'Interrupted. The files remain stored.',
        async (signal) => {
          if (download !== undefined)
            await downloadJobFiles(context, flags, { client, number, into: download, signal });
          else {
            const files = [];
            for await (const file of client.jobs.files(number, { signal })) files.push(file);
            if (flags.format === 'json') context.output.json(files);
            else if (files.length === 0) context.output.err(`Job ${number} has no stored files.`);
            else context.output.out(formatFiles(files));
          }
          return exitCodes.ok;
        },
      ),
    );
  });
}

/** Names may contain any character: those with control characters are shown as JSON. */
const shown = (path: string): string => (/[\p{Cc}\p{Cf}]/u.test(path) ? JSON.stringify(path) : path);

const formatFiles = (files: readonly ListedFile[]): string =>
  formatTable(
    [
      { title: 'Task', align: 'right' },
      { title: 'Bytes', align: 'right' },
      { title: 'Stored', align: 'left' },
      { title: 'Path', align: 'left' },
    ],
    files.map(({ task, bytes, storedAt, path }) => [
      String(task ?? ''),
      String(bytes),
      formatTime(storedAt),
      shown(path),
    ]),
  );
