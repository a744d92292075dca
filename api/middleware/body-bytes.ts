// How long the body of a request is, by its headers.
interface Headers {
  header(name: string): string | undefined;
}

/** `unknown` for a body that comes in chunks; null when the headers announce none. */
export function bodyBytes(request: Headers): number | 'unknown' | null {
  if (request.header('transfer-encoding') !== undefined) return 'unknown';
  const length = request.header('content-length') ?? '';
  return /^\d+$/.test(length) ? Number(length) : null;
}

/** The content of a file: written to the disk as it comes, with a limit of its own (services/files/transfers.ts). */
export const isStreamed = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'PUT' && /^\/v1\/((agent\/)?file-blobs|agent\/environment-archives)\//.test(path);
