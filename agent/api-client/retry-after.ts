/** Milliseconds of a header `Retry-After`, which has seconds or a date; null for none. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined || header === '') return null;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1000;
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}
