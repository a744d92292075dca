// Machine types of Compute Engine: the offers, and the disk and host policy of each launch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Provider } from '../../providers/provider.ts';
import { offersOf, type TypeShape } from '../../providers/gcp/catalogue.ts';
import { bootDiskOf, canMigrate, hasGpu } from '../../providers/gcp/machine-types.ts';
import { launchPrice } from '../../providers/gcp/prices.ts';
import { createGcpProvider } from '../../providers/gcp/provider.ts';
import { freshOwner, gcpSettings, placement, startGcpCloud, workersRequest } from './gcp-cloud.ts';
import type { GcpTestCloud } from './gcp-cloud.ts';

const region = 'us-central1';

describe('a machine type', () => {
  it.each([
    ['n2-standard-4', 'pd-balanced', true],
    ['e2-standard-2', 'pd-balanced', true],
    ['t2a-standard-2', 'pd-balanced', true],
    ['c3-standard-4-lssd', 'pd-balanced', true],
    ['c4a-standard-4', 'hyperdisk-balanced', true],
    ['n4d-standard-4', 'hyperdisk-balanced', true],
    ['m4-megamem-28', 'hyperdisk-balanced', true],
    ['h3-standard-88', 'pd-balanced', true],
    ['h4d-standard-192', 'hyperdisk-balanced', false],
    ['z3-highmem-44-highlssd', 'pd-balanced', true],
    ['z3-highmem-88', 'pd-balanced', false],
    ['z3-highmem-176-standardlssd', 'pd-balanced', false],
    ['g2-standard-4', 'pd-balanced', false],
    ['g4-standard-48', 'hyperdisk-balanced', false],
    ['a2-highgpu-1g', 'pd-balanced', false],
    ['a3-highgpu-8g', 'pd-balanced', false],
    ['a3-ultragpu-8g', 'hyperdisk-balanced', false],
    ['a4-highgpu-8g', 'hyperdisk-balanced', false],
    ['a4x-highgpu-4g', 'hyperdisk-balanced', false],
    ['n1-standard-4+nvidia-tesla-t4', 'pd-balanced', false],
  ])('%s has a %s disk, and its instances move to another host: %s', (type, disk, migrates) => {
    expect([bootDiskOf(type), canMigrate(type)]).toEqual([disk, migrates]);
  });

  it('has a GPU of its own, or one that is attached', () => {
    const types = ['a2-highgpu-1g', 'a4x-highgpu-4g', 'g4-standard-48', 'n1-standard-4+nvidia-tesla-t4'];
    expect([...types, 'n1-standard-4', 'h4d-standard-192'].map(hasGpu)).toEqual([true, true, true, true, false, false]);
  });

  it('is on offer without a price where Google lists it, and on the spot market unless the table knows that it is not sold there', () => {
    const shape = (type: string): TypeShape => ({
      ...{ type, vcpus: 4, memoryBytes: 2 ** 34, architecture: 'x86_64', gpus: 0, gpuName: null },
    });
    const of = (type: string, isListed: boolean, where = region) =>
      offersOf({ region: where, zone: `${where}-a`, isListed }, shape(type), []).map(({ market, pricePerHour }) => [
        market,
        pricePerHour,
      ]);
    const unpriced = [
      ['on-demand', null],
      ['spot', null],
    ];
    expect([of('h4d-standard-192', true), of('h4d-standard-192', false)]).toEqual([unpriced, []]);
    expect(of('a2-highgpu-1g', true, 'africa-south1')).toEqual([['on-demand', null]]);
    expect(of('n2-standard-4', true)).toEqual(of('n2-standard-4', false));
  });
});

describe('the price of a disk with a throughput', () => {
  it('has what Hyperdisk costs above the 3,000 IOPS and 140 MB/s of every disk', () => {
    const of = (type: string, diskThroughput: number) =>
      launchPrice(gcpSettings, { type, market: 'on-demand', diskGib: 73, diskThroughput }).diskMicrosPerHour;
    expect([of('c4-standard-4', 140), of('n2-standard-4', 1_000)]).toEqual([8_000, 10_000]);
    expect(of('c4-standard-4', 1_000)).toBe(Math.round(((5.84 + 1_000 * 0.005 + 860 * 0.04) / 730) * 1e6));
  });
});

describe('a launch of machine types', () => {
  let cloud: GcpTestCloud;
  let provider: Provider;
  beforeAll(async () => {
    cloud = await startGcpCloud();
    await cloud.emulator.plant({ kind: 'image', name: 'driver' });
    const settings = { ...gcpSettings, gpuImage: 'projects/test-project/global/images/driver' };
    provider = createGcpProvider({ ...cloud.options, settings });
  });
  afterAll(() => cloud.close());

  async function launch(of: Parameters<typeof placement>[0]): Promise<unknown[]> {
    const { launched, failures } = await provider.launch(workersRequest(freshOwner(), 1, undefined, placement(of)));
    return [...launched.map(({ offer }) => offer), ...failures];
  }

  it.each(['c4-standard-2', 'h4d-standard-192', 'z3-highmem-88', 'a3-highgpu-1g', 'g4-standard-48'])(
    '%s is accepted, by the rules of its family',
    async (type) => {
      expect(await launch({ types: [type] })).toEqual([type]);
    },
  );

  it('has the IOPS that the throughput of its disk needs', async () => {
    expect(await launch({ types: ['c4-standard-2'], diskThroughput: 1_000 })).toEqual(['c4-standard-2']);
  });
});
