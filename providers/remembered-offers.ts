// Caches the offers of a region: types, zones and prices change slowly.
import type { Offer } from './provider.ts';

/** Karpenter's interval. */
const offersTtlMs = 5 * 60_000;

/** `now` returns milliseconds of any monotonic clock. An error is not cached. */
export function rememberOffers(
  read: () => Promise<Offer[]>,
  now: () => number = () => performance.now(),
): () => Promise<Offer[]> {
  let known: { atMs: number; offers: Promise<Offer[]> } | null = null;
  return () => {
    if (known !== null && now() - known.atMs < offersTtlMs) return known.offers;
    const asked = { atMs: now(), offers: read() };
    known = asked;
    asked.offers.catch(() => {
      if (known === asked) known = null;
    });
    return asked.offers;
  };
}
