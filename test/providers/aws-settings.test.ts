// The file of AWS settings: one region or several; an error names every problem of the file.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readAwsRegions, readAwsSettings } from '../../providers/aws/settings-file.ts';
import { awsFile } from '../providers/aws-cloud.ts';

const { region, deployment, node, apiCa, ...place } = awsFile;
const west = { ...place, subnets: [{ id: 'subnet-west', zone: 'us-west-2a' }] };
const several = {
  regions: { [region]: place, 'us-west-2': west },
  defaultRegion: 'us-west-2',
  deployment,
  node,
  apiCa,
};

describe('the AWS settings', () => {
  let directory: string;
  beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'ropewalk-aws-settings-'))));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const write = async (value: object): Promise<string> => {
    const path = join(directory, 'aws.json');
    await writeFile(path, JSON.stringify(value));
    return path;
  };

  it('of one region are that region', async () => {
    const path = await write(awsFile);
    expect(readAwsSettings(path)).toEqual(awsFile);
    expect(readAwsRegions(path)).toEqual({ regions: [awsFile] });
  });

  it('of several regions are each whole, the default one first', async () => {
    const path = await write(several);
    const all = readAwsRegions(path);
    expect(all.regions.map((each) => each.region)).toEqual(['us-west-2', region]);
    expect(all.regions[1]).toEqual(awsFile);
    expect(readAwsSettings(path).subnets).toEqual(west.subnets);
  });

  it.each<[object, RegExp]>([
    [{ ...awsFile, apiCa: 'sha256//abc' }, /must be certificates in PEM/],
    [
      { ...awsFile, apiCa: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\nCA\npoweroff\n' },
      /must be certificates in PEM/,
    ],
    [{ ...several, defaultRegion: 'eu-west-1' }, /must be one of the regions[\s\S]*defaultRegion/],
    [{ ...several, regions: {} }, /defaultRegion/],
    [{ ...several, regions: { Oregon: west } }, /regions\.Oregon/],
    [{ ...several, region: 'us-east-1' }, /region/],
    [{ ...awsFile, subnets: [] }, /subnets/],
    [
      { ...awsFile, workerSubnets: [{ id: 'subnet-private', zone: 'us-east-1a' }] },
      /must be in the zones of subnets[\s\S]*workerSubnets/,
    ],
  ])('%#: what is wrong is named', async (value, problem) => {
    const path = await write(value);
    expect(() => readAwsRegions(path)).toThrow(problem);
    expect(() => readAwsRegions(path)).toThrow(path);
  });
});
