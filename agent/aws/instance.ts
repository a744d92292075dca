// Reads an agent's facts on EC2 from the metadata service at its start: its identity, with proof, and its boot data. It writes
// no file: the launch token stays in user data, where tasks cannot use it without the instance's identity.
import { uptime } from 'node:os';
import { join } from 'node:path';

import { z } from 'zod';

import { bootMarker } from '../../domain/cloud-names.ts';
import type { Boot } from '../lifecycle/boot.ts';
import type { Metadata } from './metadata.ts';

export interface Ec2Instance {
  id: string;
  region: string;
  boot: Boot;
}

export interface Ec2InstanceInput {
  metadata: Metadata;
  directory: string;
  /** Set only where caches outlive instances, as in tests. */
  cacheDir: string | null;
  /** An emulated machine is not powered off. */
  isEmulated: boolean;
}

const bootLine = z.object({
  apiUrl: z.url(),
  launchToken: z.string().min(1),
  owner: z.object({ deploymentId: z.string(), workspace: z.string(), cluster: z.number().int() }),
});

export async function readEc2Instance(input: Ec2InstanceInput): Promise<Ec2Instance> {
  const { metadata, directory, cacheDir, isEmulated } = input;
  const [userData, id, address, region, document, signature, publicAddress, hostname] = await Promise.all([
    needed(metadata, 'latest/user-data'),
    needed(metadata, 'latest/meta-data/instance-id'),
    needed(metadata, 'latest/meta-data/local-ipv4'),
    needed(metadata, 'latest/meta-data/placement/region'),
    needed(metadata, 'latest/dynamic/instance-identity/document'),
    needed(metadata, 'latest/dynamic/instance-identity/signature'),
    optional(metadata, 'latest/meta-data/public-ipv4'),
    optional(metadata, 'latest/meta-data/public-hostname'),
  ]);
  const boot: Boot = {
    ...readBootLine(userData),
    address: address.trim(),
    publicAddress,
    hostname,
    cacheDir: cacheDir ?? join(directory, 'cache'),
    powerOff: isEmulated ? null : ['systemctl', 'poweroff'],
    // The document's exact bytes, because they are signed.
    identity: { document, signature: signature.trim() },
    upForMs: () => Math.round(uptime() * 1_000),
  };
  return { id: id.trim(), region: region.trim(), boot };
}

/** The rest of the user data is for the machine's first boot. */
export function readBootLine(userData: string): z.infer<typeof bootLine> {
  const line = userData.split('\n').find((each) => each.startsWith(bootMarker));
  if (line === undefined) throw new Error(`The instance's user data has no line that begins with "${bootMarker}".`);
  return bootLine.parse(JSON.parse(Buffer.from(line.slice(bootMarker.length).trim(), 'base64').toString('utf8')));
}

/** An instance without a public address has neither; a network without DNS host names has no name. */
async function optional(metadata: Metadata, path: string): Promise<string | null> {
  const value = (await metadata.read(path))?.trim() ?? '';
  return value === '' ? null : value;
}

async function needed(metadata: Metadata, path: string): Promise<string> {
  const value = await metadata.read(path);
  if (value !== null) return value;
  throw new Error(`The instance's metadata has no ${path}: is this an instance that Ropewalk has launched?`);
}
