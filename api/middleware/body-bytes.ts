// The length of a request's body, according to its headers, and the error for one that is shorter.
import { RopewalkError } from '../../domain/errors.ts';

interface Headers {
  header(name: string): string | undefined;
}

/** `unknown` for a chunked body; null when the headers announce none. */
export function bodyBytes(request: Headers): number | 'unknown' | null {
  if (request.header('transfer-encoding') !== undefined) return 'unknown';
  const length = request.header('content-length') ?? '';
  return /^\d+$/.test(length) ? Number(length) : null;
}

/** The content of a file: written to disk as it arrives, with its own limit (services/files/transfers.ts). */
export const isStreamed = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'PUT' && /^\/v1\/((agent\/)?file-blobs|agent\/environment-archives)\//.test(path);

/** For a failed read of a body. The caller has gone: this is no failure of the API, which alerts and the log count. */
export function cutOff(cause: unknown): never {
  throw new RopewalkError(
    { code: 'VALIDATION', message: 'The connection ended before the whole body of the request had arrived.' },
    { cause },
  );
}
