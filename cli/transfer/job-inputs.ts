// The files of --upload that are too many or too large to be sent with a job.
import type { Client, CreateJob } from '../../sdk/client.ts';
import type { CliContext, ConnectionFlags } from '../context.ts';
import type { Found } from '../found-file.ts';
import { openStorage } from './storage.ts';
import { uploadFiles } from './upload.ts';

/** Uploads the files that are not sent with the job itself; with --input-filestore they are in that filestore afterwards. */
export async function storeInputs(
  context: CliContext,
  flags: ConnectionFlags & { inputFilestore?: string },
  { client, stored, signal }: { client: Client; stored: Found[]; signal: AbortSignal },
): Promise<Pick<CreateJob, 'inputFiles'>> {
  if (stored.length === 0) return {};
  const inputFiles = await uploadFiles(await openStorage(context, flags, client), stored, signal);
  if (flags.inputFilestore === undefined) return { inputFiles };
  await client.files.add(flags.inputFilestore, inputFiles, { signal });
  return {};
}
