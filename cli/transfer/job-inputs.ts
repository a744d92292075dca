// What is too large to be sent with a job: files of --upload, and the list of inputs.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Client, CreateJob } from '../../sdk/client.ts';
import type { CliContext, ConnectionFlags } from '../context.ts';
import type { Found } from '../found-file.ts';
import { openStorage, type Storage } from './storage.ts';
import { uploadFiles } from './upload.ts';

/** Uploads the files that are not sent with the job itself; with --input-filestore they are in that filestore afterwards. */
export async function storeInputs(
  context: CliContext,
  flags: ConnectionFlags & { inputFilestore?: string },
  { client, stored, list, signal }: { client: Client; stored: Found[]; list: Buffer | undefined; signal: AbortSignal },
): Promise<Pick<CreateJob, 'inputFiles'>> {
  const storage = stored.length > 0 || list !== undefined ? await openStorage(context, flags, client) : null;
  if (storage === null) return {};
  if (list !== undefined) await uploadList(storage, list, signal);
  if (stored.length === 0) return {};
  const inputFiles = await uploadFiles(storage, stored, signal);
  if (flags.inputFilestore === undefined) return { inputFiles };
  await client.files.add(flags.inputFilestore, inputFiles, { signal });
  return {};
}

/** Uploads read from the disk. */
async function uploadList(storage: Storage, list: Buffer, signal: AbortSignal): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-inputs-'));
  try {
    const source = join(directory, 'list');
    await writeFile(source, list, { mode: 0o600 });
    await uploadFiles(storage, [{ path: 'list', source, executable: false }], signal);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
