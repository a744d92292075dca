// Transfers the bytes of files: with signed URLs to and from the bucket, or through the API where the object store is a directory. Content is stored
// once for each workspace and SHA-256. Members and instances of a workspace may read any content whose SHA-256 they know; lists that contain it are
// checked for privacy (filestores.ts).
import type { Readable } from 'node:stream';

import { RopewalkError } from '../../domain/errors.ts';
import { maxApiFileBytes } from '../../domain/file-limits.ts';
import { mapAtOnce } from '../../domain/map-at-once.ts';
import { blobKey } from '../../platform/archive-keys.ts';
import type { FileContent, FileStore, StreamedFiles } from '../../platform/objects/files.ts';
import type { FileDownload, FileUpload } from '../../schema/files.ts';
import { objectsAtOnce } from './objects-at-once.ts';
import type { FileStreams } from './streams.ts';

type Files = { files: FileStore };

export interface SentFile {
  sha256: string;
  /** Number of bytes, where the sender announces it. */
  announced: number | null;
  body: AsyncIterable<Uint8Array> | null;
}

/** For the files that are not stored yet. */
export async function planUploads(
  { files }: Files,
  workspace: string,
  wanted: readonly FileContent[],
): Promise<{ uploads: FileUpload[] }> {
  const byHash = new Map(wanted.map((content) => [content.sha256, content]));
  const uploads = await mapAtOnce([...byHash.values()], objectsAtOnce, async (content): Promise<FileUpload[]> => {
    const key = blobKey(workspace, content.sha256);
    if ((await files.size(key)) === content.bytes) return [];
    if (files.kind === 'signed') return [{ sha256: content.sha256, ...(await files.uploadUrl(key, content)) }];
    if (content.bytes > maxApiFileBytes) throw tooLarge(content.bytes, maxApiFileBytes);
    return [{ sha256: content.sha256, url: null, headers: {} }];
  });
  return { uploads: uploads.flat() };
}

export async function planDownloads(
  { files }: Files,
  workspace: string,
  sha256s: readonly string[],
): Promise<{ downloads: FileDownload[] }> {
  const downloads = await mapAtOnce([...new Set(sha256s)], objectsAtOnce, async (sha256): Promise<FileDownload> => {
    const key = blobKey(workspace, sha256);
    const isStored = (await files.size(key)) !== null;
    return { sha256, isStored, url: isStored && files.kind === 'signed' ? await files.downloadUrl(key) : null };
  });
  return { downloads };
}

/** Returns the files whose content is not stored with this size. */
export async function missingFiles(
  { files }: Files,
  workspace: string,
  wanted: readonly FileContent[],
): Promise<string[]> {
  const byHash = new Map(wanted.map((content) => [content.sha256, content]));
  const found = await mapAtOnce([...byHash.values()], objectsAtOnce, async ({ sha256, bytes }) =>
    (await files.size(blobKey(workspace, sha256))) === bytes ? [] : [sha256],
  );
  return found.flat();
}

/** @throws RopewalkError VALIDATION when other bytes arrive, TOO_LARGE, TOO_BUSY, CONFLICT where files go to a bucket. */
export async function receiveFile(
  { files, fileStreams }: Files & { fileStreams: FileStreams },
  workspace: string,
  { sha256, announced, body }: SentFile,
): Promise<void> {
  await receiveContent(
    { files, fileStreams },
    blobKey(workspace, sha256),
    { sha256, announced, body },
    maxApiFileBytes,
  );
}

/** @throws RopewalkError as receiveFile */
export async function receiveContent(
  { files, fileStreams }: Files & { fileStreams: FileStreams },
  key: string,
  { sha256, announced, body }: SentFile,
  maxBytes: number,
): Promise<void> {
  const store = requireStreamed(files);
  if (announced !== null && announced > maxBytes) throw tooLarge(announced, maxBytes);
  await fileStreams.run(() => store.write(key, body ?? noBytes(), { sha256, maxBytes }));
}

/** @throws RopewalkError NOT_FOUND */
export async function sendFile(
  { files }: Files,
  workspace: string,
  sha256: string,
): Promise<{ bytes: number; stream: Readable }> {
  return sendContent({ files }, blobKey(workspace, sha256));
}

/** @throws RopewalkError NOT_FOUND */
export async function sendContent({ files }: Files, key: string): Promise<{ bytes: number; stream: Readable }> {
  const found = await requireStreamed(files).read(key);
  if (found !== null) return found;
  throw new RopewalkError({ code: 'NOT_FOUND', message: 'There is no file with this SHA-256.' });
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

const tooLarge = (bytes: number, maxBytes: number) =>
  new RopewalkError({
    code: 'TOO_LARGE',
    message: `A file of ${gib(bytes)} GiB is too large: at most ${gib(maxBytes)} GiB goes through the API.`,
    hint: 'Where the object store is a bucket (ROPEWALK_OBJECTS), a file may have 5 GiB.',
  });

const gib = (bytes: number): number => Number((bytes / 1024 ** 3).toFixed(1));
