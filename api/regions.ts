// The regions of an AWS account as the API reads them: what is on offer in each, and what instances printed there. Loaded only
// where there is an account: the SDK is heavy.
import { cloudQueue } from '../domain/cloud-names.ts';
import { RopewalkError } from '../domain/errors.ts';
import { readAwsRegions } from '../platform/aws-settings.ts';
import type { AwsReading } from '../providers/aws/reading.ts';
import type { CloudPort } from './services/machines.ts';

export interface Regions {
  ports: { aws: CloudPort; regions: ReadonlyMap<string, CloudPort> };
  /** @throws RopewalkError NOT_FOUND for a region that is not configured any more. */
  readingOf(region: string | undefined): AwsReading;
}

/** @throws Error that names the file and every problem in it. */
export async function readRegions(path: string): Promise<Regions> {
  const { createAwsReading } = await import('../providers/aws/reading.ts');
  const { regions, areNamed } = readAwsRegions(path);
  const readings = new Map(regions.map((file) => [file.region, createAwsReading(file, Date.now)]));
  const portOf = ({ region }: { region: string }): CloudPort => {
    const queue = areNamed ? cloudQueue('aws', region) : cloudQueue('aws');
    return { ...readingOf(region), region, queue };
  };
  const readingOf = (region = regions[0].region): AwsReading => {
    const reading = readings.get(region);
    if (reading !== undefined) return reading;
    throw new RopewalkError({
      code: 'NOT_FOUND',
      message: `The region ${region} is not among those of the AWS settings any more.`,
      hint: `There are: ${[...readings.keys()].join(', ')}.`,
    });
  };
  const ports = new Map(regions.map((file) => [file.region, portOf(file)]));
  return { ports: { aws: portOf(regions[0]), regions: ports }, readingOf };
}
