// Writes the regions that setup prepared into the settings file, beside the existing ones. Keeps the operator's additions.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { type GcpFile, readGcpRegions } from '../settings-file.ts';

/** The default region first; empty when there is no file. @throws Error when it is not valid. */
export const regionsIn = (path: string): GcpFile[] => (existsSync(path) ? readGcpRegions(path) : []);

export type Prepared = Pick<GcpFile, 'deployment' | 'project' | 'network' | 'networkTags' | 'serviceAccount' | 'node'>;

export async function addToSettings(
  path: string,
  prepared: Prepared,
  regions: readonly { region: string; zones: readonly string[] }[],
): Promise<void> {
  const before = regionsIn(path);
  const places = new Map(before.map(({ region, zones, subnetwork }) => [region, { zones, subnetwork }]));
  // Keeps the zones that the operator chose for a region.
  for (const { region, zones } of regions)
    places.set(region, { zones: places.get(region)?.zones ?? [...zones], subnetwork: prepared.network });
  const { region: _region, zones: _zones, subnetwork: _subnetwork, ...kept } = before[0] ?? defaults;
  await write(path, { ...kept, ...prepared }, [...places]);
}

/** Deletes the file with its last region. */
export async function removeFromSettings(path: string, gone: readonly string[]): Promise<void> {
  const [first, ...rest] = regionsIn(path);
  if (first === undefined) return;
  const left = [first, ...rest].filter(({ region }) => !gone.includes(region));
  if (left.length === 0) return rm(path, { force: true });
  const { region: _region, zones: _zones, subnetwork: _subnetwork, ...common } = first;
  const places = left.map(({ region, zones, subnetwork }) => [region, { zones, subnetwork }] as const);
  await write(path, common, places);
}

const defaults = { region: '', zones: [], subnetwork: '', assignPublicIps: true, gpuImage: null, maxRunDays: 30 };

type Place = readonly [region: string, place: Pick<GcpFile, 'zones' | 'subnetwork'>];

async function write(path: string, common: object, places: readonly Place[]): Promise<void> {
  const [first] = places;
  if (first === undefined) return;
  const value =
    places.length === 1
      ? { region: first[0], ...first[1], ...common }
      : { defaultRegion: first[0], regions: Object.fromEntries(places), ...common };
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`);
  await rename(temporary, path);
}
