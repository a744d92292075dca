// Downloads the output files of a job's tasks.
import type { CliContext, ConnectionFlags } from '../context.ts';
import type { Client } from '../../sdk/client.ts';
import { resolve } from 'node:path';

import { isGits } from '../../domain/file-path.ts';
import { downloadFiles, makeTarget } from './download.ts';
import { placeFiles } from './places.ts';
import { openStorage } from './storage.ts';

/** Creates the directory of --download early: its problems are reported before a job is submitted or awaited. */
export async function prepareDownload({ cwd }: CliContext, into: string | undefined): Promise<void> {
  if (into !== undefined) await makeTarget(resolve(cwd, into));
}

export async function downloadJobFiles(
  context: CliContext,
  flags: ConnectionFlags,
  { client, number, into, signal }: { client: Client; number: number; into: string; signal: AbortSignal },
): Promise<void> {
  const listed = [];
  for await (const file of client.jobs.files(number, { signal })) listed.push(file);
  const placed = placeFiles(listed);
  const files = placed.filter(({ path }) => !isGits(path));
  const storage = await openStorage(context, flags, client);
  const count = await downloadFiles(storage, files, resolve(context.cwd, into), signal);
  const same = files.length - count;
  const rest = same === 0 ? '' : `; ${same} were there already`;
  if (files.length < placed.length) {
    const example = placed.find(({ path }) => isGits(path))?.path;
    const what = `${placed.length - files.length} of a repository of git (${JSON.stringify(example)})`;
    context.output.err(`note: left out ${what}: its configuration and hooks could run programs here`);
  }
  context.output.err(`Downloaded ${count} ${count === 1 ? 'file' : 'files'} of job ${number} into ${into}${rest}`);
}
