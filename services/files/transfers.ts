// How the bytes of files travel: with signed URLs to and from the bucket, or through the API where the object store is a
// directory. Content is stored once for each workspace and SHA-256. Members and instances of a workspace read what they can name
// by its SHA-256; lists that have it are checked for privacy (filestores.ts).
import type { Readable } from 'node:stream';

import { RopewalkError } from '../../domain/errors.ts';
import { maxApiFileBytes, maxFileStreams } from '../../domain/file-limits.ts';
import { blobKey } from '../../platform/archive-keys.ts';
import type { FileContent, FileStore, StreamedFiles } from '../../platform/objects/files.ts';
import type { FileDownload, FileUpload } from '../../schema/files.ts';
import { mapAtOnce } from './map-at-once.ts';

type Files = { files: FileStore };

/** For those of the files that are not stored yet. */
export async function planUploads(
  { files }: Files,
  workspace: string,
  wanted: readonly FileContent[],
): Promise<{ uploads: FileUpload[] }> {
  const byHash = new Map(wanted.map((content) => [content.sha256, content]));
  const uploads = await mapAtOnce([...byHash.values()], async (content): Promise<FileUpload[]> => {
    const key = blobKey(workspace, content.sha256);
    if ((await files.size(key)) === content.bytes) return [];
    if (files.kind === 'signed') return [{ sha256: content.sha256, ...(await files.uploadUrl(key, content)) }];
    if (content.bytes > maxApiFileBytes) throw tooLarge(content.bytes);
    return [{ sha256: content.sha256, url: null, headers: {} }];
  });
  return { uploads: uploads.flat() };
}

export async function planDownloads(
  { files }: Files,
  workspace: string,
  sha256s: readonly string[],
): Promise<{ downloads: FileDownload[] }> {
  const downloads = await mapAtOnce([...new Set(sha256s)], async (sha256): Promise<FileDownload> => {
    const key = blobKey(workspace, sha256);
    const isStored = (await files.size(key)) !== null;
    return { sha256, isStored, url: isStored && files.kind === 'signed' ? await files.downloadUrl(key) : null };
  });
  return { downloads };
}

/** Those whose content is not stored with this size. */
export async function missingFiles(
  { files }: Files,
  workspace: string,
  wanted: readonly FileContent[],
): Promise<string[]> {
  const byHash = new Map(wanted.map((content) => [content.sha256, content]));
  const found = await mapAtOnce([...byHash.values()], async ({ sha256, bytes }) =>
    (await files.size(blobKey(workspace, sha256))) === bytes ? [] : [sha256],
  );
  return found.flat();
}

/** @throws RopewalkError VALIDATION when other bytes arrive, TOO_LARGE, TOO_BUSY, CONFLICT where files go to a bucket. */
export async function receiveFile(
  { files }: Files,
  workspace: string,
  { sha256, announced, body }: { sha256: string; announced: number | null; body: AsyncIterable<Uint8Array> | null },
): Promise<void> {
  const store = requireStreamed(files);
  if (announced !== null && announced > maxApiFileBytes) throw tooLarge(announced);
  const content = { sha256, maxBytes: maxApiFileBytes };
  await inTurn(() => store.write(blobKey(workspace, sha256), body ?? noBytes(), content));
}

/** @throws RopewalkError NOT_FOUND */
export async function sendFile(
  { files }: Files,
  workspace: string,
  sha256: string,
): Promise<{ bytes: number; stream: Readable }> {
  const found = await requireStreamed(files).read(blobKey(workspace, sha256));
  if (found !== null) return found;
  throw new RopewalkError({ code: 'NOT_FOUND', message: 'There is no file with this SHA-256.' });
}

let streams = 0;

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (streams >= maxFileStreams) {
    throw new RopewalkError(
      { code: 'TOO_BUSY', message: `This process receives ${maxFileStreams} files already.`, hint: 'Try again.' },
      { retryAfterMs: 1_000 },
    );
  }
  streams += 1;
  try {
    return await work();
  } finally {
    streams -= 1;
  }
}

function requireStreamed(files: FileStore): StreamedFiles {
  if (files.kind === 'streamed') return files;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: 'Files of this deployment go to its bucket, not through the API.',
    hint: 'Ask POST /v1/file-uploads or POST /v1/file-downloads for signed URLs.',
  });
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const tooLarge = (bytes: number) =>
  new RopewalkError({
    code: 'TOO_LARGE',
    message: `A file of ${(bytes / 1024 ** 3).toFixed(1)} GiB is too large: at most 1 GiB goes through the API.`,
    hint: 'Where the object store is a bucket (ROPEWALK_OBJECTS), a file may have 5 GiB.',
  });
