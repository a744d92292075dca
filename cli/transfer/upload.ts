// Sends files of this machine to the object store before a job starts: to the bucket with signed URLs, or through the API.

import { describeFile, sendFile } from '../../agent/files/http-file.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import type { StoredFile } from '../../sdk/files.ts';
import { UsageError } from '../errors.ts';
import { explained } from './failure.ts';
import { filesAtOnce, type Storage, transfersAtOnce, withRepeats } from './storage.ts';

export interface LocalFile {
  /** Path in a task's working directory, with `/`. */
  path: string;
  source: string;
  executable: boolean;
}

/** Uploads the missing files; resolves with the files for the job's request. */
export async function uploadFiles(
  storage: Storage,
  files: readonly LocalFile[],
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const hint = 'Nothing was submitted. Run the command again: what is stored already is not sent again.';
  return explained('upload the files', hint, () => upload(storage, files, signal));
}

async function upload(
  { client, blob, progress }: Storage,
  files: readonly LocalFile[],
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const stored: StoredFile[] = [];
  for (const { path, source, executable } of files) {
    signal.throwIfAborted();
    stored.push({ path, executable, ...(await describeFile(source, null)) });
  }
  const sources = new Map(stored.map(({ sha256 }, index) => [sha256, files[index]?.source ?? '']));
  for (let from = 0; from < stored.length; from += filesAtOnce) {
    const batch = stored.slice(from, from + filesAtOnce).map(({ sha256, bytes }) => ({ sha256, bytes }));
    const uploads = await client.files.planUploads(batch, { signal });
    await mapAtOnce(uploads, transfersAtOnce, async (planned) => {
      let wantedUpload: typeof planned | undefined = planned;
      await withRepeats(signal, async (attempt) => {
        if (attempt > 1) {
          const wanted = batch.filter(({ sha256 }) => sha256 === planned.sha256);
          [wantedUpload] = await client.files.planUploads(wanted, { signal });
        }
        if (wantedUpload === undefined) return;
        const { url, headers, sha256 } = wantedUpload;
        const source = sources.get(sha256) ?? '';
        if ((await describeFile(source, null)).sha256 !== sha256)
          throw new UsageError(`${source} changed while it was uploaded`);
        await sendFile({ path: source, within: null }, url === null ? blob(sha256) : { url, headers }, signal);
      });
      progress('Uploading', Math.min(stored.length, from + batch.length), stored.length);
    });
  }
  return stored;
}
