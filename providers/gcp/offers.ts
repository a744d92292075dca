// The offers of Compute Engine in a region: its API reports the machine types of each zone, the dated table their prices.
// Without credentials, only the table is used.
import type { protos } from '@google-cloud/compute';

import type { Offer } from '../provider.ts';
import { answerOf } from './api-errors.ts';
import { attachedGpus, catalogueTypes, offersOf } from './catalogue.ts';
import type { TypeShape } from './catalogue.ts';
import type { GcpClients } from './clients.ts';
import { classify } from './errors.ts';
import { isBareMetal } from './machine-types.ts';
import type { GcpSettings } from './settings.ts';

type MachineType = protos.google.cloud.compute.v1.IMachineType;

/** Every type in every configured zone, on demand and spot. */
export async function gcpOffers(
  clients: GcpClients,
  { region, zones }: Pick<GcpSettings, 'region' | 'zones'>,
): Promise<Offer[]> {
  try {
    const byZone = await Promise.all(zones.map((zone) => offersOfZone(clients, region, zone)));
    return byZone.flat();
  } catch (error) {
    const answer = answerOf(error);
    const isForbidden = answer === null || classify(answer.code, answer.message).scope === 'account';
    if (!isForbidden) throw error;
    const gpus = Object.keys(attachedGpus);
    return catalogueTypes().flatMap((type) =>
      zones.flatMap((zone) => offersOf({ region, zone, isListed: false }, type, gpus)),
    );
  }
}

async function offersOfZone(clients: GcpClients, region: string, zone: string): Promise<Offer[]> {
  const { project } = clients;
  const offers: Offer[] = [];
  const gpus = Object.keys(attachedGpus);
  for await (const type of clients.machineTypes.listAsync({ project, zone, maxResults: 500 }, { autoPaginate: false }))
    if (!isBareMetal(type.name ?? '')) offers.push(...offersOf({ region, zone, isListed: true }, shapeOf(type), gpus));
  return offers;
}

function shapeOf({ name, guestCpus, memoryMb, architecture, accelerators }: MachineType): TypeShape {
  const gpus = (accelerators ?? []).reduce((sum, { guestAcceleratorCount }) => sum + (guestAcceleratorCount ?? 0), 0);
  const gpu = accelerators?.[0]?.guestAcceleratorType ?? null;
  return {
    type: name ?? '',
    vcpus: guestCpus ?? 0,
    memoryBytes: (memoryMb ?? 0) * 1024 * 1024,
    architecture: architecture === 'ARM64' ? 'arm64' : 'x86_64',
    gpus,
    gpuName: gpu === null ? null : gpu.replace(/^nvidia-(tesla-)?/, '').toUpperCase(),
  };
}
