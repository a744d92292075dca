// The regions of an account as an API reads them: what is on offer in each, and what instances printed there.
import { cloudQueue } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { AwsReading } from './reader.ts';
import { createAwsReading } from './reader.ts';
import type { AwsSettings } from './settings.ts';

type RegionSettings = Pick<AwsSettings, 'region' | 'subnets'>;

/** A region with the task queue on which what is begun there is looked after. */
export interface AwsRegion extends AwsReading {
  region: string;
  queue: string;
}

export interface AwsRegionsReading {
  aws: AwsRegion;
  regions: ReadonlyMap<string, AwsRegion>;
  /** @throws RopewalkError NOT_FOUND for a region that is not configured any more. */
  readingOf(region: string | undefined): AwsReading;
}

/** The first is the default. `areNamed`: the file names regions, and then each has a queue of its own. */
export function createAwsRegions(
  { regions: [first, ...rest], areNamed }: { regions: [RegionSettings, ...RegionSettings[]]; areNamed: boolean },
  now: () => number,
): AwsRegionsReading {
  const create = (settings: RegionSettings): AwsRegion => {
    const { region } = settings;
    const queue = areNamed ? cloudQueue('aws', region) : cloudQueue('aws');
    return { ...createAwsReading(settings, now), region, queue };
  };
  const aws = create(first);
  const regions = new Map([aws, ...rest.map(create)].map((each) => [each.region, each]));
  return {
    aws,
    regions,
    readingOf(region = aws.region) {
      const found = regions.get(region);
      if (found !== undefined) return found;
      throw new RopewalkError({
        code: 'NOT_FOUND',
        message: `The region ${region} is not among those of the AWS settings any more.`,
        hint: `There are: ${[...regions.keys()].join(', ')}.`,
      });
    },
  };
}
