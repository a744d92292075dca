// Wheels and zip files of modules that the Python environment of a cluster or a job names (`software.packageFiles`).
import type { CallOptions } from './options.ts';
import type { SendRequest } from './request.ts';
import { requestJson } from './request.ts';

export interface PackageFilesApi {
  /**
   * The hashes among these SHA-256 values (lower-case hexadecimal) whose files must be stored before a cluster or a job may
   * name them.
   */
  missing(sha256s: readonly string[], options?: CallOptions): Promise<string[]>;
  /** Stores a file of at most 16 MiB for some months; safe to repeat. Throws ValidationError when the bytes have another SHA-256. */
  store(sha256: string, bytes: Uint8Array, options?: CallOptions): Promise<void>;
  /** Throws NotFoundError. */
  read(sha256: string, options?: CallOptions): Promise<Uint8Array>;
}

export function createPackageFilesApi(request: SendRequest): PackageFilesApi {
  const path = (sha256: string): string => `/v1/package-files/${sha256}`;
  return {
    async missing(sha256s, { signal } = {}) {
      const body = { sha256s };
      const answer = await requestJson<{ missing: string[] }>(request, {
        method: 'POST',
        path: '/v1/missing-package-files',
        body,
        signal,
      });
      return answer.missing;
    },
    async store(sha256, bytes, { signal } = {}) {
      const response = await request({ method: 'PUT', path: path(sha256), body: bytes, signal });
      await response.body?.cancel();
    },
    async read(sha256, { signal } = {}) {
      const response = await request({ method: 'GET', path: path(sha256), signal });
      return new Uint8Array(await response.arrayBuffer());
    },
  };
}
