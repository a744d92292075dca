// The length of a request's body, according to its headers.
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
