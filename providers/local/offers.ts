// The single offer of this machine: itself, free of charge.
import { arch, totalmem } from 'node:os';

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
      architecture: arch() === 'arm64' ? 'arm64' : 'x86_64',
      gpus: 0,
      gpuName: null,
      pricePerHour: 0,
    },
  ];
}
