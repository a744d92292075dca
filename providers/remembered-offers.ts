// The offers of a region, remembered for a while: types, zones and prices change slowly.
import type { Offer } from './provider.ts';

/** Karpenter asks as often. */
const offersTtlMs = 5 * 60_000;

/** `now` in milliseconds of any clock that does not go back. An error is for its caller alone, not for all for five minutes. */
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
