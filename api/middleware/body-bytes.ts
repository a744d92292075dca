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
