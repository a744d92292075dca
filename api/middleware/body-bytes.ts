// How long the body of a request is, by its headers.
interface Headers {
  header(name: string): string | undefined;
}

/** Zero without a body; `unknown` for one that comes in chunks. */
export function bodyBytes(request: Headers): number | 'unknown' {
  if (request.header('transfer-encoding') !== undefined) return 'unknown';
  const length = request.header('content-length') ?? '';
  return /^\d+$/.test(length) ? Number(length) : 0;
}
