// The offers of a region, with the instance types that a cloud does not list and that exist by name.
import type { Offer } from '../domain/offers/offer.ts';
import type { PlaceReader, ProviderManifest } from '../providers/manifest.ts';

/** `names`: of the types that were asked for. */
export async function offersFor(
  { offersByName }: Pick<ProviderManifest, 'offersByName'>,
  place: Pick<PlaceReader, 'offers' | 'region'>,
  names: readonly string[],
): Promise<readonly Offer[]> {
  const listed = await place.offers();
  if (offersByName === undefined || place.region === null) return listed;
  return [...listed, ...offersByName(listed, place.region, names)];
}
