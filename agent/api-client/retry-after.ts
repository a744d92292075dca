/** Milliseconds of a header `Retry-After`, which has seconds or a date; null for none. */
export function readRetryAfter(header: string | undefined): number | null {
  if (header === undefined || header === '') return null;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}
