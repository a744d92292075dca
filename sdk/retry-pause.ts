// The pause before a repeated request, as agents have it (domain/retry-pause.ts): the published package has only its own files.

export interface RetryPause {
  /** Failed attempts so far, from 1. */
  tries: number;
  /** The server's `Retry-After`; null for none. */
  retryAfterMs: number | null;
  firstMs: number;
  /** Limit of the growth. */
  maxMs: number;
  /** From 0 up to 1. */
  random: number;
}

/**
 * At least Retry-After, at most a limit that doubles with each try, and anywhere between (full jitter). A server under load gives all its clients the
 * same Retry-After: without growth they would return together until it recovers.
 */
export function retryPauseMs({ tries, retryAfterMs, firstMs, maxMs, random }: RetryPause): number {
  const fromMs = Math.max(0, retryAfterMs ?? 0);
  const grownMs = Math.min(maxMs, firstMs * 2 ** Math.min(tries - 1, 30));
  const toMs = Math.max(grownMs, fromMs + firstMs);
  return fromMs + random * (toMs - fromMs);
}
