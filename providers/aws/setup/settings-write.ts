// Writes the regions that setup prepared into the settings file, beside the existing ones. Keeps the operator's additions.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { type AwsFile, readAwsRegions } from '../settings-file.ts';
import type { PreparedNetwork } from './apply-network.ts';

/** AWS's public parameter for Ubuntu 24.04 with an NVIDIA driver; the control plane's policy allows reading it. */
const driverImage = '/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id';

/** The default region first; empty when there is no file. @throws Error when it is not valid. */
export const regionsIn = (path: string): AwsFile[] => (existsSync(path) ? readAwsRegions(path).regions : []);

export async function addToSettings(
  path: string,
  prepared: readonly PreparedNetwork[],
  { instanceProfile, node, deployment }: Pick<AwsFile, 'node' | 'deployment'> & { instanceProfile: string },
): Promise<void> {
  const before = regionsIn(path);
  const common = { deployment, node, apiCa: before[0]?.apiCa ?? null };
  const regions = new Map(before.map((each) => [each.region, { ...each, ...common }]));
  for (const { region, subnets, groups } of prepared) {
    const kept = regions.get(region) ?? {
      assignPublicIps: true,
      gpuImage: driverImage,
      workerSubnets: null,
      workspaceProfiles: {},
      workspaceAccounts: {},
    };
    const securityGroups = { cluster: groups.cluster, scheduler: [groups.scheduler] };
    regions.set(region, { ...kept, region, subnets, securityGroups, instanceProfile, ...common });
  }
  await write(path, [...regions.values()]);
}

/** Deletes the file with its last region. */
export async function removeFromSettings(path: string, gone: readonly string[]): Promise<void> {
  const left = regionsIn(path).filter(({ region }) => !gone.includes(region));
  if (left.length === 0) await rm(path, { force: true });
  else await write(path, left);
}

async function write(path: string, all: readonly AwsFile[]): Promise<void> {
  const [first, ...rest] = all;
  if (first === undefined) return;
  const { deployment, node, apiCa } = first;
  const place = ({ region, deployment: _deployment, node: _node, apiCa: _apiCa, ...settings }: AwsFile) =>
    [region, settings] as const;
  const value =
    rest.length === 0
      ? first
      : { defaultRegion: first.region, regions: Object.fromEntries(all.map(place)), deployment, node, apiCa };
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`);
  await rename(temporary, path);
}
