// Reads an agent's facts on Compute Engine from the metadata server at its start: its identity, with proof, and its boot data.
import { uptime } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import { gceAudience, gceBootKey } from '../../domain/cloud-names.ts';
import type { Boot } from '../lifecycle/boot.ts';
import type { Metadata } from './metadata.ts';

export interface GceInstance {
  name: string;
  numericId: string;
  zone: string;
  project: string;
  boot: Boot;
}

export interface GceInstanceInput {
  metadata: Metadata;
  directory: string;
  /** Set only where tests keep caches between instances. */
  cacheDir: string | null;
  /** An emulated machine is not powered off. */
  isEmulated: boolean;
}

const bootData = z.object({
  apiUrl: z.url(),
  launchToken: z.string().min(1),
  owner: z.object({ deploymentId: z.string(), workspace: z.string(), cluster: z.number().int() }),
});

export async function readGceInstance(input: GceInstanceInput): Promise<GceInstance> {
  const { metadata, directory, cacheDir, isEmulated } = input;
  const [data, name, numericId, zone, project, address, publicAddress] = await Promise.all([
    required(metadata, `instance/attributes/${gceBootKey}`),
    required(metadata, 'instance/name'),
    required(metadata, 'instance/id'),
    required(metadata, 'instance/zone'),
    required(metadata, 'project/project-id'),
    required(metadata, 'instance/network-interfaces/0/ip'),
    metadata.read('instance/network-interfaces/0/access-configs/0/external-ip'),
  ]);
  const boot = bootData.parse(JSON.parse(data));
  const audience = encodeURIComponent(gceAudience(boot.owner.deploymentId));
  const token = await required(metadata, `instance/service-accounts/default/identity?audience=${audience}&format=full`);
  return {
    name,
    numericId,
    zone: zone.split('/').at(-1) ?? '',
    project,
    boot: {
      ...boot,
      address,
      publicAddress: publicAddress === null || publicAddress.trim() === '' ? null : publicAddress.trim(),
      hostname: null,
      cacheDir: cacheDir ?? join(directory, 'cache'),
      powerOff: isEmulated ? null : ['systemctl', 'poweroff'],
      // The token carries its own signature.
      identity: { document: token, signature: '' },
      upForMs: () => Math.round(uptime() * 1_000),
    },
  };
}

async function required(metadata: Metadata, path: string): Promise<string> {
  const value = await metadata.read(path);
  if (value !== null) return value.trim();
  throw new Error(`The instance's metadata has no ${path}: was this instance launched by Ropewalk?`);
}
