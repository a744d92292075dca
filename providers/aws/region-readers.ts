// The API's view of all configured regions: their offers and logs.
import { cloudQueue } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { PlaceReader, ProviderReader } from '../manifest.ts';
import { unknownRegion } from '../settings.ts';
import { createAwsReader } from './reader.ts';
import type { ReaderSettings } from './reader.ts';

export interface RegionReader extends PlaceReader {
  region: string;
  onDemandPrices: PlaceReader['onDemandPrices'];
}

export interface RegionReaders extends ProviderReader {
  placeOf(region: string | undefined): RegionReader;
  /** By region name. */
  regions: ReadonlyMap<string, RegionReader>;
}

/** The first region is the default. */
export function createRegionReaders([first, ...rest]: [ReaderSettings, ...ReaderSettings[]]): RegionReaders {
  const create = (settings: ReaderSettings) => {
    const { region } = settings;
    const reader = createAwsReader(settings);
    const place = { ...reader, region, queue: cloudQueue('aws', region) };
    return { region, place, logs: reader.logs };
  };
  const standard = create(first);
  const regions = new Map([standard, ...rest.map(create)].map((each) => [each.region, each]));
  const names = [...regions.keys()].join(', ');
  return {
    regions: new Map([...regions].map(([region, { place }]) => [region, place])),
    placeOf: (region = standard.region) => {
      const found = regions.get(region);
      if (found !== undefined) return found.place;
      throw unknownRegion(region, regions.keys(), 'docs/aws.md');
    },
    logs: (query) => {
      const found = regions.get(query.region ?? standard.region);
      if (found !== undefined) return found.logs(query);
      throw new RopewalkError({
        code: 'NOT_FOUND',
        message: `The region ${query.region} is no longer configured, and the logs of this cluster are kept there.`,
        hint: `Configured regions: ${names}.`,
      });
    },
  };
}
