// The contents of an emulated cloud, and resources planted by hand, in terms common to all clouds: instances, volumes, and a
// cluster's other resource, which is a launch template of EC2 or a firewall rule of Compute Engine.
import { ownerKey } from '../../domain/owner.ts';
import { ownerName } from '../../providers/gcp/names.ts';
import type { Owner } from '../../providers/provider.ts';
import type { Emulator } from '../emulator/emulator.ts';
import type { GcpEmulator } from '../emulator/gcp/emulator.ts';

export const plantedKinds = ['instance', 'volume', 'other'] as const;
export type PlantedKind = (typeof plantedKinds)[number];

export interface CloudThing {
  id: string;
  /** null for a resource without Ropewalk's mark. */
  deploymentId: string | null;
  cluster: string | null;
}

export interface CloudSide {
  /** All resources that cost money or have the mark of a deployment. */
  existing: () => Promise<CloudThing[]>;
  plant: (kind: PlantedKind, owner: Owner | null, ageMs: number, region?: string) => Promise<string>;
  /** Its volume will stay when it is deleted. */
  keepVolume: (id: string) => Promise<void>;
}

export function ec2Side(emulator: Emulator): CloudSide {
  const kinds = { instance: 'instance', volume: 'volume', other: 'launch template' } as const;
  return {
    existing: async () =>
      [
        ...(await emulator.instances()).filter(({ state }) => state !== 'terminated'),
        ...(await emulator.resources()),
      ].map(({ id, tags }) => ({
        id,
        deploymentId: tags['ropewalk:deployment'] ?? null,
        cluster: tags['ropewalk:cluster'] ?? null,
      })),
    plant: (kind, owner, ageMs, region) => {
      const tags: Record<string, string> =
        owner === null
          ? { Name: 'a database' }
          : {
              'ropewalk:deployment': owner.deploymentId,
              'ropewalk:workspace': owner.workspace,
              'ropewalk:cluster': String(owner.cluster),
            };
      return emulator.plant({ kind: kinds[kind], tags, ageMs, ...(region === undefined ? {} : { region }) });
    },
    keepVolume: (id) => emulator.send({ op: 'keepVolume', id }),
  };
}

let planted = 0;

export function gceSide(emulator: GcpEmulator): CloudSide {
  return {
    existing: async () => {
      const there = new Set((await emulator.ledger()).existing);
      const { disks, firewalls } = await emulator.resources();
      const instances = (await emulator.instances()).filter(({ name }) => there.has(name));
      return [
        ...instances.map(({ name, labels }) => ({ id: name, ...thingOf(labels) })),
        ...disks.map(({ name, zone, labels }) => ({ id: `${zone}/${name}`, ...thingOf(labels) })),
        ...firewalls.map(({ name, description }) => {
          const [deploymentId, , cluster] = JSON.parse(/\[.*\]/.exec(description)?.[0] ?? '[]');
          return {
            id: name,
            deploymentId: deploymentId ?? null,
            cluster: cluster === undefined ? null : String(cluster),
          };
        }),
      ];
    },
    plant: (kind, owner, ageMs, region = 'us-central1') => {
      planted += 1;
      const name = nameOf(kind, owner);
      const kinds = { instance: 'instance', volume: 'disk', other: 'firewall rule' } as const;
      const labels =
        owner === null
          ? { app: 'a-database' }
          : {
              'ropewalk-deployment': owner.deploymentId,
              'ropewalk-workspace': owner.workspace,
              'ropewalk-cluster': String(owner.cluster),
            };
      const description = owner === null ? 'by hand' : `Ropewalk ${ownerKey(owner)} in ${region}`;
      return emulator.plant({ kind: kinds[kind], name, zone: `${region}-a`, labels, description, ageMs });
    },
    keepVolume: (id) => emulator.send({ op: 'keepDisk', id }),
  };
}

const thingOf = (labels: Readonly<Record<string, string>>): Omit<CloudThing, 'id'> => ({
  deploymentId: labels['ropewalk-deployment'] ?? null,
  cluster: labels['ropewalk-cluster'] ?? null,
});

/** The names too mark instances and firewall rules as Ropewalk's. */
function nameOf(kind: PlantedKind, owner: Owner | null): string {
  if (owner === null || kind === 'volume') return `planted-${planted}`;
  return kind === 'instance'
    ? `${ownerName(owner)}-${planted.toString(16).padStart(10, '0')}-1`
    : `${ownerName(owner)}-${planted}-v4`;
}
