// Providers as the API in memory sees them: this machine, and a cloud with EC2's names.
import type { KeyObject } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import type { Offer } from '../../domain/offers/offer.ts';
import { noAddresses } from '../../domain/offers/plan.ts';
import { verifyIdentity } from '../../providers/aws/identity.ts';
import { awsManifest } from '../../providers/aws/manifest.ts';
import { localManifest } from '../../providers/local/manifest.ts';
import { localOffers } from '../../providers/local/offers.ts';
import type { PlaceReader, ProviderReader } from '../../providers/manifest.ts';
import type { ServedProvider } from '../../services/providers.ts';

type ReadLogs = ProviderReader['logs'];
const noLogs: ReadLogs = async function* () {};

export function testHost({ cores = 4, logs = noLogs }: { cores?: number; logs?: ReadLogs } = {}): ServedProvider {
  const place: PlaceReader = {
    region: null,
    queue: 'local/host1',
    zones: ['local'],
    hasGpuDriver: false,
    offers: () => Promise.resolve(localOffers(cores)),
    onDemandPrices: null,
    addressPrices: noAddresses,
  };
  return { manifest: localManifest, reader: { placeOf: () => place, logs }, identity: null };
}

export interface TestPlace {
  region: string;
  zones: readonly string[];
  offers: () => Promise<readonly Offer[]>;
  queue: string;
  hasGpuDriver?: boolean;
}

interface TestCloud {
  /** The default one first. */
  places?: TestPlace[];
  identityKeys?: ReadonlyMap<string, KeyObject>;
}

const address = { 'on-demand': 0.005, spot: 0.0025 };
const addressPrices = { head: address, worker: address };

export const onDemandPrices = { source: 'a table', asOf: '2026-07-20' };

export function testCloud({ places = [], identityKeys = new Map() }: TestCloud): ServedProvider {
  const placeOf = (region: string | undefined): PlaceReader => {
    const found = region === undefined ? places[0] : places.find((place) => place.region === region);
    if (found !== undefined) return { hasGpuDriver: false, ...found, onDemandPrices, addressPrices };
    throw new RopewalkError({
      code: 'VALIDATION',
      field: 'region',
      message: `The region ${region} is not configured.`,
      hint: `Configured regions: ${places.map((place) => place.region).join(', ')}.`,
    });
  };
  const identity = {
    verify: async (proof: Parameters<typeof verifyIdentity>[1]) => verifyIdentity(identityKeys, proof),
  };
  return { manifest: awsManifest, reader: { placeOf, logs: noLogs }, identity };
}
