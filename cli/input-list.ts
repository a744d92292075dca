// The values of --map-over-file that do not fit in a request: a list with the JSON of a value on each line. Split and checked as the server does it,
// because instances get the list without passing through the server.
import { createHash } from 'node:crypto';

import { RopewalkError } from '../domain/errors.ts';
import { maxInputListBytes } from '../domain/file-limits.ts';
import { readInputs } from '../domain/job/inputs.ts';
import type { CreateJob } from '../schema/jobs.ts';
import { UsageError } from './errors.ts';

export interface InputList {
  list: NonNullable<NonNullable<CreateJob['mapOver']>['list']>;
  content: Buffer;
}

/** @throws UsageError */
export function listOf(fileContent: string, delimiter: string | undefined): InputList {
  const lines: Buffer[] = [];
  let bytes = 0;
  for (const value of split(fileContent, delimiter)) {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    bytes += line.length;
    if (bytes <= maxInputListBytes) lines.push(line);
  }
  checkListBytes(bytes);
  const content = Buffer.concat(lines);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { list: { sha256, bytes: content.length, count: lines.length }, content };
}

function split(fileContent: string, delimiter: string | undefined): string[] {
  try {
    const read = readInputs({ fileContent, delimiter });
    return 'values' in read ? read.values : [];
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    throw new UsageError(error.message.replace(/^mapOver(\.delimiter)?:/, '--map-over-file:'), error.problem.hint);
  }
}

/** Also before a file becomes text: a longer one would fit in no string. @throws UsageError */
export function checkListBytes(bytes: number): void {
  if (bytes <= maxInputListBytes) return;
  throw new UsageError(
    `--map-over-file: the values have ${Math.ceil(bytes / 1024 ** 2)} MiB, and those of a job at most ${maxInputListBytes / 1024 ** 2} MiB`,
    'Split them, and submit a job for each part; or put the list into a file that tasks read, and give them their lines with --array.',
  );
}
