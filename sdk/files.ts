// Files of jobs: upload and download places, and the content of a named filestore. The bytes do not pass through this client:
// programs transfer them with the returned URLs.
import type { FileDownload, FilePage, FileUpload, ListedFile, StoredFile } from '../schema/files.ts';
import type { CallOptions, ListOptions } from './options.ts';
import type { Paged } from './pages.ts';
import { createPaged } from './pages.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export type { FileDownload, FileUpload, ListedFile, StoredFile } from '../schema/files.ts';

export interface FilesApi {
  /**
   * Upload places for those of at most 500 files that are not stored yet: a signed PUT to the bucket with its headers, or, with
   * `url` null, `PUT /v1/file-blobs/{sha256}` of the API.
   */
  planUploads(files: readonly { sha256: string; bytes: number }[], options?: CallOptions): Promise<FileUpload[]>;
  /** Download places of at most 500 files: a signed GET, or, with `url` null, `GET /v1/file-blobs/{sha256}` of the API. */
  planDownloads(sha256s: readonly string[], options?: CallOptions): Promise<FileDownload[]>;
  /** Files of a named filestore, in the order of their addition. Throws NotFoundError. */
  list(filestore: string, options?: ListOptions): Paged<ListedFile>;
  /** Adds at most 10,000 uploaded files to a named filestore, which is created by its first file. */
  add(filestore: string, files: readonly StoredFile[], options?: CallOptions): Promise<void>;
}

export function createFilesApi(request: SendRequest): FilesApi {
  return {
    async planUploads(files, { signal } = {}) {
      const body = { files };
      const options = { method: 'POST', path: '/v1/file-uploads', body, signal } as const;
      return (await requestJson<{ uploads: FileUpload[] }>(request, options)).uploads;
    },
    async planDownloads(sha256s, { signal } = {}) {
      const body = { sha256s };
      const options = { method: 'POST', path: '/v1/file-downloads', body, signal } as const;
      return (await requestJson<{ downloads: FileDownload[] }>(request, options)).downloads;
    },
    list: (filestore, options) => listFiles(request, `/v1/filestores/${filestore}/files`, options),
    async add(filestore, files, { signal } = {}) {
      const path = `/v1/filestores/${filestore}/files`;
      const response = await request({ method: 'POST', path, body: { files }, signal });
      await response.body?.cancel();
    },
  };
}

export function listFiles(request: SendRequest, path: string, { signal, after }: ListOptions = {}): Paged<ListedFile> {
  const fetchPage = (next: string | undefined): Promise<FilePage> =>
    requestJson<FilePage>(request, { method: 'GET', path, query: { after: next }, signal });
  return createPaged(fetchPage, after);
}
