// What this machine offers: itself, for nothing.
import { totalmem } from 'node:os';

import type { Offer } from '../provider.ts';

export const localOffer = { offer: 'local', zone: 'local', market: 'on-demand' } as const;

export function localOffers(cores: number): Offer[] {
  return [
    {
      type: localOffer.offer,
      zone: localOffer.zone,
      market: localOffer.market,
      vcpus: cores,
      memoryBytes: totalmem(),
      pricePerHour: 0,
    },
  ];
}
