// The dev server's database belongs to the version of Temporal that created it: start-dev creates its tables when the file is
// new and never changes them, so another version may fail on it late, or damage it. The creating version is recorded beside it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { RopewalkError } from '../domain/errors.ts';
import { exists, writeWhole } from '../providers/local/files.ts';
import { readTextOrNull } from '../ops/files.ts';

/** Called before the server is started. Refuses a database of another or an unknown version, and leaves it unchanged. */
export async function guardDatabase(database: string, binary: string): Promise<void> {
  const version = await versionOf(binary);
  const recordPath = `${database}.version`;
  if (!(await exists(database))) {
    // The record comes first: a crash in between leaves one without a database, which the next start replaces.
    await writeWhole(recordPath, `${version}\n`);
    return;
  }
  const recorded = (await readTextOrNull(recordPath))?.trim() ?? '';
  if (recorded === version) return;
  throw recorded === ''
    ? unknownWriter(database, recordPath, version)
    : otherWriter(database, recorded, version, binary);
}

/** The program's own version line: the version of the CLI and of its server. */
async function versionOf(binary: string): Promise<string> {
  const { stdout } = await promisify(execFile)(binary, ['--version'], { timeout: 30_000 }).catch((cause: unknown) => {
    throw new RopewalkError(
      {
        code: 'VALIDATION',
        message: `${binary} does not report its version, so it is not known whether it can open the database`,
        hint: 'Name a Temporal CLI with TEMPORAL_CLI, or unset it.',
      },
      { cause },
    );
  });
  return stdout.trim().split('\n')[0] ?? '';
}

const otherWriter = (database: string, recorded: string, version: string, binary: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `${database} was written by "${recorded}", and ${binary} is "${version}"; it was not opened`,
    hint: `Use the version that wrote it (TEMPORAL_CLI names a binary). ${startAnew(database)}`,
  });

const unknownWriter = (database: string, recordPath: string, version: string): RopewalkError =>
  new RopewalkError({
    code: 'CONFLICT',
    message: `it is not known which version of Temporal wrote ${database}, and this is "${version}"; it was not opened`,
    hint: `If you know that this very version did, say so: echo '${version}' > '${recordPath}'. ${startAnew(database)}`,
  });

const startAnew = (database: string): string =>
  `Or begin anew: end what still runs with "ropewalk destroy --by-tag", then move ${database}* away and start with "ropewalk dev --new-temporal-namespace"; open jobs and clusters end with ENDED_FROM_OUTSIDE, all records and the numbers stay.`;
