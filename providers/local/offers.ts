// The single offer of this machine, free of charge unless its operator sets a price.
import { arch, totalmem } from 'node:os';

import { dollarsOf, microsOf, type InstancePrice } from '../../domain/cost/interval.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Offer } from '../provider.ts';

export const localOffer = { offer: 'local', zone: 'local', market: 'on-demand' } as const;

/** The hourly price of an instance on this machine, from ROPEWALK_LOCAL_DOLLARS_PER_HOUR. Default: 0. */
export function localPrice(setting: string | undefined): InstancePrice {
  if (setting === undefined || setting === '') {
    return { microsPerHour: 0, diskMicrosPerHour: 0, addressMicrosPerHour: 0, source: 'this machine costs nothing' };
  }
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(setting)) {
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'ROPEWALK_LOCAL_DOLLARS_PER_HOUR',
      message: `ROPEWALK_LOCAL_DOLLARS_PER_HOUR: ${setting} is no amount of US dollars.`,
      hint: 'Write for example 0.25.',
    });
  }
  return {
    microsPerHour: microsOf(Number(setting)),
    diskMicrosPerHour: 0,
    addressMicrosPerHour: 0,
    source: 'price of this machine',
  };
}

export function localOffers(cores: number, { microsPerHour }: InstancePrice = localPrice(undefined)): Offer[] {
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
      pricePerHour: dollarsOf(microsPerHour),
    },
  ];
}
